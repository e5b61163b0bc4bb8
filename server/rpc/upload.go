package rpc

import (
	"context"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

const (
	// formOverhead is more than the boundaries, part headers and name of a form take of its
	// Content-Length.
	formOverhead = 64 << 10
	// maxFormName is more bytes than 200 characters take.
	maxFormName = 4 << 10
	// drainBytes is how much of a refused upload is still read. Many clients look for the answer only
	// after they have sent everything, and lose it if the connection breaks before.
	drainBytes = 64 << 20
	drainTime  = 5 * time.Second
	// unadmittedBytes is drainBytes for a caller that was not admitted.
	unadmittedBytes = 1 << 20
	unadmittedTime  = 2 * time.Second
)

// AdmitFunc checks a call of procedure and returns the context with the principal; see
// interceptor.Gate.
type AdmitFunc func(ctx context.Context, procedure string, request, answer http.Header) (context.Context, error)

// FileDeps is what NewUpload and NewDownload work with; all are required.
type FileDeps struct {
	Access    Access
	Knowledge *knowledge.Service
	// Sessions and Recordings have the recordings of sessions.
	Sessions   *sessions.Service
	Recordings *recordings.Service
	Callbacks  *callbacks.Service
	Admit      AdmitFunc
	Problem    problem.Writer
	Log        *slog.Logger
	// Once replays the answers to uploads with Idempotency-Key.
	Once *interceptor.Once
	// Audit writes the entries of the audit log.
	Audit *interceptor.Audit
	// Now must be the real clock: connections have real deadlines.
	Now func() time.Time
}

// refuse answers with err, and logs an internal error.
func (d FileDeps) refuse(w http.ResponseWriter, r *http.Request, procedure string, err error) {
	if decided := fault.From(err); decided.Kind() == fault.Internal {
		d.Log.ErrorContext(r.Context(), "call failed", telemetry.KeyProcedure, procedure, telemetry.KeyError, err)
	}
	d.Problem.Write(w, r, err)
}

type uploadHandler struct {
	FileDeps
	procedure string
}

// NewUpload makes the REST route of UploadSource or ReplaceSourceContent: multipart/form-data with
// the part file and, before or after it, the parts name, force_ocr, ocr_languages and tags. The
// path variables are workspace_id and, for a replacement, source_id. The key is checked before the
// body is read, the type when the file's part begins.
func NewUpload(d FileDeps, procedure string) http.Handler {
	return &uploadHandler{d, procedure}
}

// ServeHTTP implements http.Handler.
func (h *uploadHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := &uploadBody{ReadCloser: r.Body, control: http.NewResponseController(w), now: h.Now, unadmitted: true}
	refuse := func(err error) {
		// The answer is sent before the rest is read, if possible: curl and browsers stop sending when
		// they see it.
		first := r.ProtoMajor == 1 && !body.untouched(r) && body.control.EnableFullDuplex() == nil
		if !first {
			body.drain(r)
		} else if !body.ended {
			w.Header().Set("Connection", "close")
		}
		h.refuse(w, r, h.procedure, err)
		if first {
			_ = body.control.Flush() // the caller has hung up when this fails
			body.drain(r)
		}
	}
	u, err := h.open(w, r, body)
	if err != nil {
		refuse(err)
		return
	}
	answer, replayed := new(parlancev1.Source), false
	work := func(ctx context.Context) error {
		return h.Audit.Do(ctx, h.call(r, u), func(ctx context.Context) (proto.Message, error) {
			source, err := h.receive(ctx, u)
			proto.Merge(answer, sourceProto(source))
			return answer, err
		})
	}
	if keys := r.Header.Values(idempotency.Header); len(keys) > 0 {
		replayed, err = h.Once.Upload(u.ctx, interceptor.UploadParams{
			Keys: keys, Operation: strings.TrimSpace(h.procedure + " " + string(u.ref.ID) + " " + string(u.replaces)),
			File: u.form, Answer: answer,
		}, work)
	} else {
		err = work(u.ctx)
	}
	if err != nil {
		refuse(err)
		return
	}
	if replayed {
		w.Header().Set(interceptor.ReplayedHeader, "true")
	}
	writeMessage(w, http.StatusAccepted, answer)
}

// upload is an upload that was admitted.
type upload struct {
	ctx context.Context //nolint:containedctx // lives for one call
	ref workspaces.Ref
	// replaces is the source of the path; empty: the file becomes a new one.
	replaces knowledge.SourceID
	form     *uploadForm
	atLeast  int64
}

// open checks everything that is known before the body is read.
func (h *uploadHandler) open(w http.ResponseWriter, r *http.Request, body *uploadBody) (u upload, err error) {
	if u.ctx, err = h.Admit(r.Context(), h.procedure, r.Header, w.Header()); err != nil {
		return u, err
	}
	body.unadmitted = false
	form, err := openForm(r, body)
	if err != nil {
		return u, err
	}
	if u.ref, err = h.Access.Workspace(u.ctx, r.PathValue("workspace_id")); err != nil {
		return u, err
	}
	u.replaces = knowledge.SourceID(r.PathValue("source_id"))
	u.form, u.atLeast = newUploadForm(form), max(r.ContentLength-formOverhead, 0)
	return u, h.Knowledge.CheckUpload(u.ctx, u.ref, u.replaces, u.atLeast)
}

// openForm checks that the body is a form. Errors: UnsupportedMedia unsupported-media-type,
// Invalid invalid-request (no boundary, query parameters).
func openForm(r *http.Request, body io.Reader) (*multipart.Reader, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, fault.New(fault.UnsupportedEncoding, "An upload is sent as it is, without Content-Encoding.")
	}
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/form-data" {
		return nil, fault.New(fault.UnsupportedEncoding,
			"Send the file as multipart/form-data with the parts file and, if you like, name, force_ocr, ocr_languages and tags.")
	}
	if params["boundary"] == "" {
		return nil, fault.InvalidField("body", "malformed", "The Content-Type states no boundary.")
	}
	for name := range r.URL.Query() {
		return nil, fault.InvalidField(name, "unknown", "There is no query parameter %q.", name)
	}
	return multipart.NewReader(body, params["boundary"]), nil
}

// call describes an upload for the audit log.
func (h *uploadHandler) call(r *http.Request, u upload) interceptor.AuditedCall {
	call := interceptor.AuditedCall{Procedure: h.procedure, Header: r.Header}
	call.Request = &parlancev1.UploadSourceMetadata{WorkspaceId: string(u.ref.ID)}
	if u.replaces != "" {
		call.Request = &parlancev1.ReplaceSourceContentMetadata{WorkspaceId: string(u.ref.ID), SourceId: string(u.replaces)}
	}
	return call
}

// receive reads the parts before the file, hands the file on, and then reads the parts after it.
func (h *uploadHandler) receive(ctx context.Context, u upload) (knowledge.Source, error) {
	file, err := u.form.file()
	if err != nil {
		return knowledge.Source{}, err
	}
	return h.Knowledge.Upload(ctx, u.ref, knowledge.UploadParams{
		Filename: file.FileName(), MediaType: file.Header.Get("Content-Type"), Name: u.form.said.Name,
		ForceOCR: u.form.said.ForceOCR, OCRLanguages: u.form.said.OCRLanguages, Tags: u.form.said.Tags, AtLeastBytes: u.atLeast,
		AfterFile: u.form.rest, Replaces: u.replaces,
	}, u.form.reader(file))
}

// uploadBody is a request body of which a bounded rest can be read; WithBodyDeadlines ends it if
// it stalls.
type uploadBody struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	begun   bool
	ended   bool
	// unadmitted is set for a caller that was not admitted.
	unadmitted bool
}

// Read implements io.Reader.
func (b *uploadBody) Read(p []byte) (int, error) {
	b.begun = true
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}

// untouched reports whether the caller waits for 100 Continue: it has not sent the body and need
// not.
func (b *uploadBody) untouched(r *http.Request) bool { return !b.begun && r.Header.Get("Expect") != "" }

// drain reads a bounded rest of a refused body.
func (b *uploadBody) drain(r *http.Request) {
	if b.ended || b.untouched(r) {
		return
	}
	rest, within := int64(drainBytes), drainTime
	if b.unadmitted {
		rest, within = unadmittedBytes, unadmittedTime
	}
	interceptor.BoundBody(b.ReadCloser, b.now().Add(within))
	_, _ = io.CopyN(io.Discard, b.ReadCloser, rest) // only reading it matters
}

// writeMessage writes a message as the facade does.
func writeMessage(w http.ResponseWriter, status int, message proto.Message) {
	body, err := stablejson.Marshal(message)
	if err != nil { // a string that is not UTF-8; Postgres returns none
		status, body = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller has hung up when this fails
}
