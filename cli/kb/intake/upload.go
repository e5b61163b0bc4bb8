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
	"parlance.dev/parlance/platform/ticker"
)

const (
	// maxAnswerBytes limits the size of an answer.
	maxAnswerBytes = 1 << 20
	// maxTrials is how often an upload is sent when there is no answer, or the service is unavailable.
	maxTrials = 6
	// maxWait limits one wait that the server asks for, and maxWaiting limits the sum of all waits.
	maxWait, maxWaiting = 2 * time.Minute, 30 * time.Minute
)

// Refusal is an error answer of the API.
type Refusal struct {
	Status int
	// Code is the code of the problem, such as "quota-exceeded-kb-storage".
	Code string
	// Detail is the sentence of the problem.
	Detail string
}

func (r *Refusal) Error() string { return r.Detail }

// content is a file to upload.
type content struct {
	path, name, mediaType string
	// replaces is the id of the source whose content the file becomes; empty: it becomes a new one.
	replaces  string
	forceOCR  bool
	tags      []string
	sizeBytes int64
	// ocrLanguages may be empty.
	ocrLanguages []string
	// sent is called with the number of bytes sent so far; each trial begins at 0.
	sent func(bytes int64)
	// waits is called with the reason when an upload waits, and with "" when it goes on.
	waits func(why string, d time.Duration)
}

// upload sends a file over the REST API, which can refuse it before its body is sent, until it is
// accepted or refused. It retries after lost connections and when the server asks to wait. Errors:
// *Refusal, that of ctx, or why the file could not be sent.
func (d Deps) upload(ctx context.Context, p content) (*parlancev1.Source, error) {
	form, err := newForm(p)
	if err != nil {
		return nil, err
	}
	key := "kb-" + strings.ToLower(rand.Text())
	var waited time.Duration
	for trial := 1; ; trial++ {
		source, wait, err := d.send(ctx, p, form, key)
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
		if wait = retryDelay(wait, trial); waited+wait > maxWaiting {
			return nil, err
		}
		waited += wait
		p.waits(why, wait)
		if err := ticker.Wait(ctx, wait); err != nil {
			return nil, err
		}
		p.waits("", 0)
	}
}

// retryDelay returns the wait that the server asks for, or a wait that grows with each trial.
func retryDelay(asked time.Duration, trial int) time.Duration {
	if asked <= 0 {
		asked = min(time.Second<<min(trial-1, 5), 15*time.Second)
	}
	return min(asked, maxWait)
}

// localError is an error that another trial does not change.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

func isLocal(err error) bool {
	_, ok := errors.AsType[localError](err)
	return ok
}

// send is one trial. wait is how long the server asks to wait before the next one.
func (d Deps) send(ctx context.Context, p content, form form, key string) (_ *parlancev1.Source, wait time.Duration, _ error) {
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
	file, err := open()
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }() // only read
	sources := d.Base + "/v1/workspaces/" + d.WorkspaceID + "/knowledge-base/sources/"
	method, address := http.MethodPost, sources+"upload"
	if p.replaces != "" {
		method, address = http.MethodPut, sources+p.replaces+"/content"
	}
	req, err := http.NewRequestWithContext(ctx, method, address, file)
	if err != nil {
		return nil, 0, localError{err}
	}
	req.GetBody = open
	req.ContentLength = int64(len(form.head)) + p.sizeBytes + int64(len(form.tail))
	req.Header.Set("Content-Type", form.contentType)
	req.Header.Set("Authorization", "Bearer "+d.APIKey)
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Expect", "100-continue")
	resp, err := d.HTTP.Do(req)
	if err != nil {
		if isLocal(err) {
			return nil, 0, err
		}
		return nil, 0, fmt.Errorf("send it: %w", withoutURL(err))
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

// retryAfter parses seconds, the only form that the API sends.
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

// form is the multipart/form-data around the file.
type form struct {
	contentType string
	head, tail  []byte
}

// newForm makes the form. All trials use the same form, so that they are equal byte by byte.
func newForm(p content) (form, error) {
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
	if len(p.tags) > 0 {
		if err := w.WriteField("tags", strings.Join(p.tags, ",")); err != nil {
			return form{}, err
		}
	}
	if len(p.ocrLanguages) > 0 {
		if err := w.WriteField("ocr_languages", strings.Join(p.ocrLanguages, ",")); err != nil {
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

// body is the form with the file inside.
type body struct {
	form   form
	file   *os.File
	reader io.Reader
}

func (b *body) Read(p []byte) (int, error) { return b.reader.Read(p) }
func (b *body) Close() error               { return b.file.Close() }

// fileReader reads exactly as many bytes as were announced.
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
