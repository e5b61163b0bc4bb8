package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/wire"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/workspaces"
)

const (
	// formOverhead is more than the boundaries, part headers and name of a form take of its
	// Content-Length.
	formOverhead = 64 << 10
	// maxFormName is more bytes than 200 characters take.
	maxFormName = 4 << 10
	// A refused upload is read on this far, because clients look for the answer only when they
	// have sent everything.
	drainBytes = 1 << 20
	drainTime  = 2 * time.Second
	// stallTime ends an upload of which nothing comes.
	stallTime = time.Minute
)

// AdmitFunc checks a call of procedure and returns the context with the principal; see
// interceptor.Gate.
type AdmitFunc func(ctx context.Context, procedure string, request, answer http.Header) (context.Context, error)

// FileDeps is what NewUpload and NewDownload work with; all are required.
type FileDeps struct {
	Access    Access
	Knowledge *knowledge.Service
	Admit     AdmitFunc
	Problem   problem.Writer
	Log       *slog.Logger
	// Now is the real clock: deadlines of connections are set by it.
	Now func() time.Time
}

// refuse answers with err and logs it when it is our own fault.
func (d FileDeps) refuse(w http.ResponseWriter, r *http.Request, procedure string, err error) {
	if decided := fault.From(err); decided.Kind() == fault.Internal {
		d.Log.ErrorContext(r.Context(), "call failed", telemetry.KeyProcedure, procedure, telemetry.KeyError, err)
	}
	d.Problem.Write(w, r, err)
}

type uploadHandler struct{ FileDeps }

// NewUpload is the REST route of UploadSource: multipart/form-data with the part file and,
// before or after it, the part name. The path variable is workspace_id. The key is checked
// before the body is read, the type when the file's part begins.
func NewUpload(d FileDeps) http.Handler { return &uploadHandler{d} }

// ServeHTTP implements http.Handler.
func (h *uploadHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := &uploadBody{ReadCloser: r.Body, control: http.NewResponseController(w), now: h.Now}
	source, err := h.upload(w, r, body)
	if err != nil {
		body.drain(r)
		h.refuse(w, r, parlancev1connect.KnowledgeServiceUploadSourceProcedure, err)
		return
	}
	body.allow(time.Time{})
	writeMessage(w, http.StatusAccepted, sourceProto(source))
}

func (h *uploadHandler) upload(w http.ResponseWriter, r *http.Request, body *uploadBody) (knowledge.Source, error) {
	ctx, err := h.Admit(r.Context(), parlancev1connect.KnowledgeServiceUploadSourceProcedure, r.Header, w.Header())
	if err != nil {
		return knowledge.Source{}, err
	}
	form, err := openForm(r, body)
	if err != nil {
		return knowledge.Source{}, err
	}
	ref, err := h.Access.Workspace(ctx, r.PathValue("workspace_id"))
	if err != nil {
		return knowledge.Source{}, err
	}
	atLeast := max(r.ContentLength-formOverhead, 0)
	if err := h.Knowledge.CheckUpload(ctx, ref, atLeast); err != nil {
		return knowledge.Source{}, err
	}
	return h.receive(ctx, ref, form, atLeast)
}

// openForm checks that the body is a form. Errors: UnsupportedMedia unsupported-media-type,
// Invalid invalid-request (no boundary, query parameters).
func openForm(r *http.Request, body io.Reader) (*multipart.Reader, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/form-data" {
		return nil, fault.New(fault.UnsupportedEncoding, "Send the file as multipart/form-data with the parts file and, if you like, name.")
	}
	if params["boundary"] == "" {
		return nil, fault.InvalidField("body", "malformed", "The Content-Type states no boundary.")
	}
	for name := range r.URL.Query() {
		return nil, fault.InvalidField(name, "unknown", "There is no query parameter %q.", name)
	}
	return multipart.NewReader(body, params["boundary"]), nil
}

// receive reads the parts up to the file, hands the file on, and lets the rest be read after it.
func (h *uploadHandler) receive(ctx context.Context, ref workspaces.Ref, form *multipart.Reader, atLeast int64) (knowledge.Source, error) {
	parts := &formParts{form: form}
	file, err := parts.next()
	if err != nil {
		return knowledge.Source{}, err
	}
	if file == nil {
		return knowledge.Source{}, fault.InvalidField("file", "required", "The form has no part named file.")
	}
	return h.Knowledge.Upload(ctx, ref, knowledge.UploadParams{
		Filename: file.FileName(), MediaType: file.Header.Get("Content-Type"), Name: parts.name, AtLeastBytes: atLeast,
		AfterFile: func() (string, error) {
			again, err := parts.next()
			if err == nil && again != nil {
				err = fault.InvalidField("file", "repeated", "Send one file at a time.")
			}
			return parts.name, err
		},
	}, formReader{file})
}

// formParts reads the small parts of a form.
type formParts struct {
	form  *multipart.Reader
	name  string
	named bool
}

// next reads parts up to the next file, or to the end of the form: nil.
func (f *formParts) next() (*multipart.Part, error) {
	for {
		part, err := f.form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, nil //nolint:nilnil // the end of the form is no part and no error
		}
		if err != nil {
			return nil, errForm(err)
		}
		switch part.FormName() {
		case "file":
			return part, nil
		case "name":
			if err := f.readName(part); err != nil {
				return nil, err
			}
		default:
			return nil, fault.InvalidField(part.FormName(), "unknown", "The form has the parts file and name only.")
		}
	}
}

func (f *formParts) readName(part io.Reader) error {
	if f.named {
		return fault.InvalidField("name", "repeated", "Send one name.")
	}
	text, err := io.ReadAll(io.LimitReader(part, maxFormName+1))
	if err != nil {
		return errForm(err)
	}
	if len(text) > maxFormName {
		return fault.InvalidField("name", "max_len", "name may have 200 characters.")
	}
	f.name, f.named = string(text), true
	return nil
}

// formReader is the file's part: whatever ends it but its boundary is an error, so that half a
// file never looks like a whole one.
type formReader struct{ part io.Reader }

// Read implements io.Reader.
func (r formReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = errForm(err)
	}
	return n, err
}

// errForm is what a form that cannot be read is answered with.
func errForm(err error) error {
	return fault.Wrap(err, fault.InvalidRequest, "The form ended too early or is malformed; nothing was stored.")
}

// uploadBody is a request's body that must keep coming.
type uploadBody struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	begun   bool
}

// Read implements io.Reader.
func (b *uploadBody) Read(p []byte) (int, error) {
	b.begun = true
	b.allow(b.now().Add(stallTime))
	return b.ReadCloser.Read(p)
}

// allow sets until when the connection may be silent.
func (b *uploadBody) allow(until time.Time) {
	_ = b.control.SetReadDeadline(until) // a writer without deadlines has none to keep
}

// drain reads a bounded rest of a refused body. A caller that waits for 100 Continue has not
// sent it and need not.
func (b *uploadBody) drain(r *http.Request) {
	if !b.begun && r.Header.Get("Expect") != "" {
		return
	}
	until := b.now().Add(drainTime)
	if !interceptor.BoundBody(b.ReadCloser, until) {
		b.allow(until)
	}
	_, _ = io.CopyN(io.Discard, b.ReadCloser, drainBytes) // what it holds does not matter any more
	b.allow(time.Time{})
}

// writeMessage answers with a message as the facade writes them.
func writeMessage(w http.ResponseWriter, status int, message proto.Message) {
	body, err := wire.JSON(message)
	if err != nil { // a string that is not UTF-8, which Postgres would not have given us
		status, body = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller is gone when this fails
}
