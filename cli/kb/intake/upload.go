package intake

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

const (
	// maxAnswerBytes bounds what is read of an answer.
	maxAnswerBytes = 1 << 20
	// maxTrials is how often an upload is sent whose answer is lost or says that the service is away.
	maxTrials = 6
	// maxWait is the longest wait that a server may ask for, and maxWaiting all of them together.
	maxWait, maxWaiting = 2 * time.Minute, 30 * time.Minute
)

// Refusal is an answer of the API that says no.
type Refusal struct {
	Status int
	// Code is the problem's code, e.g. "quota-exceeded-kb-storage".
	Code string
	// Detail is the problem's sentence.
	Detail string
}

func (r *Refusal) Error() string { return r.Detail }

// Uploader sends files to the REST API, which can refuse one before its body is sent.
type Uploader struct {
	// Client has no time-out of its own and waits a while for 100 Continue.
	Client *http.Client
	// Base is the installation's base URL without /v1.
	Base, APIKey, WorkspaceID string
}

// parcel is a file on its way.
type parcel struct {
	path, name, mediaType string
	forceOCR              bool
	sizeBytes             int64
	// sent is told how many bytes of the file have gone out; it begins again with each trial.
	sent func(bytes int64)
	// waits is told why and how long nothing is sent, and "" when that is over.
	waits func(why string, d time.Duration)
}

// upload sends one file until it is accepted or refused. It goes on after lost connections and
// when the server asks for patience. Errors: *Refusal, ctx's, what kept it from being sent.
func (u Uploader) upload(ctx context.Context, p parcel) (*parlancev1.Source, error) {
	form, err := newForm(p)
	if err != nil {
		return nil, err
	}
	key := "kb-" + strings.ToLower(rand.Text())
	var waited time.Duration
	for trial := 1; ; trial++ {
		source, wait, err := u.send(ctx, p, form, key)
		if err == nil || ctx.Err() != nil {
			return source, err
		}
		refusal, _ := errors.AsType[*Refusal](err)
		why := "no connection"
		switch {
		case refusal == nil && isLocal(err):
			return nil, err
		case refusal == nil, refusal.Status == http.StatusServiceUnavailable, refusal.Status == http.StatusBadGateway,
			refusal.Status == http.StatusGatewayTimeout:
			if trial >= maxTrials {
				return nil, err
			}
			if refusal != nil {
				why = "the server is busy"
			}
		case refusal.Status == http.StatusTooManyRequests:
			why = "too many uploads a minute"
		case refusal.Code == string(fault.IdempotencyInFlight):
			why = "the server is still at it"
		default:
			return nil, err
		}
		if wait = patience(wait, trial); waited+wait > maxWaiting {
			return nil, err
		}
		waited += wait
		p.waits(why, wait)
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		p.waits("", 0)
	}
}

// patience is how long to wait: what the server asks for, else longer each time.
func patience(asked time.Duration, trial int) time.Duration {
	if asked <= 0 {
		asked = min(time.Second<<min(trial-1, 5), 15*time.Second)
	}
	return min(asked, maxWait)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// localError is one that sending again does not help.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

func isLocal(err error) bool {
	_, ok := errors.AsType[localError](err)
	return ok
}

// send is one trial. wait is what the server asks for before the next one.
func (u Uploader) send(ctx context.Context, p parcel, form form, key string) (_ *parlancev1.Source, wait time.Duration, _ error) {
	open := func() (io.ReadCloser, error) {
		file, err := os.Open(p.path)
		if err != nil {
			return nil, localError{plainPathError(err)}
		}
		return &body{form: form, file: file, reader: io.MultiReader(
			bytes.NewReader(form.head), &fileReader{
				file: file, left: p.sizeBytes, size: p.sizeBytes,
				sent: p.sent,
			}, bytes.NewReader(form.tail))}, nil
	}
	content, err := open()
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = content.Close() }() // only read
	address := u.Base + "/v1/workspaces/" + u.WorkspaceID + "/knowledge-base/sources/upload"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, content)
	if err != nil {
		return nil, 0, localError{err}
	}
	req.GetBody = open
	req.ContentLength = int64(len(form.head)) + p.sizeBytes + int64(len(form.tail))
	req.Header.Set("Content-Type", form.contentType)
	req.Header.Set("Authorization", "Bearer "+u.APIKey)
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Expect", "100-continue")
	resp, err := u.Client.Do(req)
	if err != nil {
		if isLocal(err) {
			return nil, 0, err
		}
		return nil, 0, fmt.Errorf("send it: %w", unaddressed(err))
	}
	defer func() { _ = resp.Body.Close() }() // only read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, 0, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode != http.StatusAccepted {
		return nil, retryAfter(resp.Header), refusalOf(resp, answer)
	}
	source := &parlancev1.Source{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(answer, source); err != nil {
		return nil, 0, localError{fmt.Errorf("the answer is not that of a Parlance server: %w", err)}
	}
	return source, 0, nil
}

// retryAfter reads seconds, the only form the API sends.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

func refusalOf(resp *http.Response, answer []byte) error {
	var problem struct{ Code, Detail, Title string }
	if json.Unmarshal(answer, &problem) != nil || problem.Code == "" {
		return &Refusal{Status: resp.StatusCode, Detail: "the server answers " + resp.Status}
	}
	if problem.Detail == "" {
		problem.Detail = problem.Title
	}
	return &Refusal{Status: resp.StatusCode, Code: problem.Code, Detail: problem.Detail}
}

// form is what stands around the file in multipart/form-data.
type form struct {
	contentType string
	head, tail  []byte
}

// newForm makes it once for all trials of an upload, so that they are the same to the byte.
func newForm(p parcel) (form, error) {
	var text bytes.Buffer
	w := multipart.NewWriter(&text)
	if err := w.WriteField("name", p.name); err != nil {
		return form{}, err
	}
	if p.forceOCR {
		if err := w.WriteField("force_ocr", "true"); err != nil {
			return form{}, err
		}
	}
	filename := path.Base(filepath.ToSlash(p.name))
	header := textproto.MIMEHeader{
		"Content-Disposition": {mime.FormatMediaType("form-data", map[string]string{
			"name":     "file",
			"filename": strings.ToValidUTF8(filename, ""),
		})},
		"Content-Type": {p.mediaType},
	}
	if _, err := w.CreatePart(header); err != nil {
		return form{}, err
	}
	head := bytes.Clone(text.Bytes())
	text.Reset()
	if err := w.Close(); err != nil {
		return form{}, err
	}
	return form{contentType: w.FormDataContentType(), head: head, tail: text.Bytes()}, nil
}

// body is a form with the file in it.
type body struct {
	form   form
	file   *os.File
	reader io.Reader
}

func (b *body) Read(p []byte) (int, error) { return b.reader.Read(p) }
func (b *body) Close() error               { return b.file.Close() }

// fileReader is exactly the bytes that were announced.
type fileReader struct {
	file       *os.File
	left, size int64
	sent       func(int64)
}

// Read implements io.Reader.
func (r *fileReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.sent(r.size - r.left)
	if errors.Is(err, io.EOF) && r.left > 0 {
		return n, localError{errors.New("the file became shorter while it was sent")}
	}
	return n, err
}
