package parlance

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// pieceBytes is how much of a file is read at once.
const pieceBytes = 32 << 10

// UploadParams say what is uploaded. WorkspaceID and Filename are required.
type UploadParams struct {
	WorkspaceID string
	// Filename is the file's name; its extension decides the type when there is no MediaType.
	Filename string
	// MediaType is the type, as in text/markdown.
	MediaType string
	// Name is what is shown; empty: the file's name, or what a replaced source has.
	Name string
	// SourceID is the source whose content the file becomes, src_…; empty: it becomes a new one.
	SourceID string
	// Tags are at most 20 of 1 to 64 letters, digits and -_.:/
	Tags []string
	// ForceOCR reads every page of a PDF from its picture.
	ForceOCR bool
	// OCRLanguages are the languages of the text in pictures, as tesseract names them; empty: those
	// of the installation.
	OCRLanguages []string
	// SizeBytes is how much of the file is sent; it must have as much. 0: all there is.
	SizeBytes int64
	// OnProgress is called with how many bytes of the file were sent, and how many there are (-1 if
	// that is not known), from another goroutine. A repeated try begins at 0. It may be nil.
	OnProgress func(sent, total int64)
}

// Upload stores a file as a source of a knowledge base, which the service then reads in the
// background: poll GetSource, or follow WatchSource. A refusal is an *Error at once, also when the
// service has not read the whole file: ReasonKBUnsupportedMediaType (HTTP 415),
// ReasonQuotaExceededKBUploadSize and ReasonQuotaExceededKBStorage (402), ReasonBodyTooLarge (413).
// A try that failed is repeated when the file is an io.Seeker, from the place on where it was. A
// try in which nothing moves for Options.Timeout, the file included, has failed. A Read of the file
// that blocks when Upload returns ends later.
func (c *Client) Upload(ctx context.Context, file io.Reader, p UploadParams) (*parlancev1.Source, error) {
	u := upload{client: c, file: file, params: p, key: keyFrom(ctx), total: -1}
	if u.key == "" {
		u.key = newKey()
	}
	if err := cmp.Or(u.check(), u.measure(), u.makeForm()); err != nil {
		return nil, err
	}
	tries := newRetries(c.options.MaxRetries)
	for {
		source, err := u.try(ctx)
		switch {
		case err == nil:
			return source, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !u.canRepeat || !tries.wait(ctx, err):
			return nil, err
		}
	}
}

// upload is a file on its way. Each try sends the same bytes, as the Idempotency-Key wants it.
type upload struct {
	client *Client
	file   io.Reader
	params UploadParams
	key    string
	// canRepeat says that the file can be read again, from start on.
	canRepeat bool
	start     int64
	total     int64
	// head and tail are the form around the file.
	contentType string
	head, tail  []byte
	// reading is closed when the last try does not read the file any more; nil before the first.
	reading <-chan struct{}
}

// check refuses what cannot be uploaded before anything is sent.
func (u *upload) check() error {
	hasComma := func(tag string) bool { return strings.Contains(tag, ",") }
	switch p := u.params; {
	case u.file == nil:
		return errors.New("parlance: there is no file to upload")
	case p.WorkspaceID == "":
		return errors.New("parlance: UploadParams.WorkspaceID is missing")
	case u.filename() == "":
		return errors.New("parlance: UploadParams.Filename is missing")
	case slices.ContainsFunc(p.Tags, hasComma), slices.ContainsFunc(p.OCRLanguages, hasComma):
		return errors.New("parlance: a tag or language of an upload has a comma: give each by itself")
	}
	return nil
}

// filename is the file's name without folders; empty when there is none.
func (u *upload) filename() string {
	name := path.Base(strings.ReplaceAll(u.params.Filename, `\`, "/"))
	if name == "." || name == "/" {
		return ""
	}
	return strings.ToValidUTF8(name, "")
}

// measure finds out how large the file is, and whether it can be read again.
func (u *upload) measure() error {
	if u.params.SizeBytes > 0 {
		u.total = u.params.SizeBytes
	}
	seeker, ok := u.file.(io.Seeker)
	if !ok {
		return nil
	}
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil //nolint:nilerr // a pipe is a file that cannot be read again
	}
	u.canRepeat, u.start = true, start
	if u.total >= 0 {
		return nil
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("parlance: measure the file: %w", err)
	}
	u.total = end - start
	return u.rewind()
}

func (u *upload) rewind() error {
	if seeker, ok := u.file.(io.Seeker); ok && u.canRepeat {
		if _, err := seeker.Seek(u.start, io.SeekStart); err != nil {
			return fmt.Errorf("parlance: go back in the file: %w", err)
		}
	}
	return nil
}

func (u *upload) makeForm() error {
	var text bytes.Buffer
	form := multipart.NewWriter(&text)
	var failed error
	field := func(name, value string) {
		if value != "" {
			failed = errors.Join(failed, form.WriteField(name, value))
		}
	}
	field("name", u.params.Name)
	if u.params.ForceOCR {
		field("force_ocr", "true")
	}
	field("tags", strings.Join(u.params.Tags, ","))
	field("ocr_languages", strings.Join(u.params.OCRLanguages, ","))
	mediaType := u.params.MediaType
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	_, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": u.filename()})},
		"Content-Type":        {mediaType},
	})
	u.head = bytes.Clone(text.Bytes())
	text.Reset()
	failed = errors.Join(failed, err, form.Close())
	u.contentType, u.tail = form.FormDataContentType(), text.Bytes()
	return failed
}

// address is the method and URL of the upload.
func (u *upload) address() (method, address string) {
	sources := u.client.base + "/v1/workspaces/" + url.PathEscape(u.params.WorkspaceID) + "/knowledge-base/sources/"
	if u.params.SourceID != "" {
		return http.MethodPut, sources + url.PathEscape(u.params.SourceID) + "/content"
	}
	return http.MethodPost, sources + "upload"
}

// try sends the file once.
func (u *upload) try(ctx context.Context) (*parlancev1.Source, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	content := u.newContent(cancel)
	defer content.end()
	// The transport waits for a Read of the body that it has begun, also when the request is over.
	defer context.AfterFunc(ctx, content.end)()
	method, address := u.address()
	body := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(u.head), content.out, bytes.NewReader(u.tail)), content.out}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, noAnswer(err)
	}
	if u.total >= 0 {
		req.ContentLength = int64(len(u.head)) + u.total + int64(len(u.tail))
	}
	u.client.setHeaders(req.Header)
	req.Header.Set(idempotencyHeader, u.key)
	req.Header.Set("Content-Type", u.contentType)
	req.Header.Set("Expect", "100-continue") // the service may refuse before the file is sent
	go content.send(u.reading)
	u.reading = content.done
	resp, err := u.client.http.http.Do(req)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	content.moves()
	defer func() { _ = resp.Body.Close() }() // only read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	isAccepted := resp.StatusCode/100 == 2
	if err != nil && (isAccepted || ctx.Err() != nil) { // else the status says enough
		return nil, causeOr(ctx, err)
	}
	source := &parlancev1.Source{}
	isSource := isAccepted && mediaType(resp.Header) == "application/json" &&
		(protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(answer, source) == nil && source.GetId() != ""
	if !isSource {
		return nil, errorOf(problemOf(resp, answer))
	}
	return source, nil
}

// errStalled says that nothing moved in an upload for Options.Timeout.
var errStalled = &Error{
	Reason: ReasonDeadlineExceeded, Message: "nothing was sent or answered for too long", Code: connect.CodeDeadlineExceeded,
}

// causeOr returns why a try was ended from here, else why there was no answer.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return noAnswer(err)
}

// content is the file on its way in one try. A goroutine reads the file into a pipe, so that a Read
// of the file that blocks does not keep the try from ending.
type content struct {
	upload *upload
	// fail ends the try.
	fail context.CancelCauseFunc
	out  *io.PipeReader
	in   *io.PipeWriter
	// done is closed when the file is not read any more.
	done chan struct{}
	// stalled ends the try when nothing has moved for the limit; 0: there is none.
	stalled *time.Timer
	limit   time.Duration

	mu    sync.Mutex
	ended bool
}

func (u *upload) newContent(fail context.CancelCauseFunc) *content {
	c := &content{upload: u, fail: fail, done: make(chan struct{}), limit: u.client.options.Timeout}
	c.out, c.in = io.Pipe()
	c.stalled = time.AfterFunc(max(c.limit, socketTimeout), func() { fail(errStalled) })
	c.moves()
	return c
}

// moves is called when something was sent or came.
func (c *content) moves() {
	c.stalled.Stop()
	if c.limit > 0 {
		c.stalled.Reset(c.limit)
	}
}

// end stops the sending. Behind it OnProgress is not called any more.
func (c *content) end() {
	_ = c.out.CloseWithError(fs.ErrClosed) // never fails
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.stalled.Stop()
}

// send sends the file when the try before, which may be nil, has stopped reading it.
func (c *content) send(before <-chan struct{}) {
	defer close(c.done)
	if before != nil {
		<-before
	}
	err := c.upload.rewind()
	if err == nil {
		err = c.copy()
	}
	if err != nil {
		c.fail(err)
	}
	_ = c.in.CloseWithError(err) // never fails; nil is the end of the file
}

// copy reads the file into the pipe, until its end or that of the try. It returns what is wrong
// with the file.
func (c *content) copy() error {
	file, total := c.upload.file, c.upload.total
	if total >= 0 {
		file = io.LimitReader(file, total)
	}
	piece := make([]byte, pieceBytes)
	for sent := int64(0); ; {
		n, err := file.Read(piece)
		if !c.write(piece[:n]) {
			return nil
		}
		sent += int64(n)
		c.progress(n, sent)
		switch {
		case errors.Is(err, io.EOF) && sent < total:
			return errors.New("parlance: read the file: it became shorter while it was sent")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("parlance: read the file: %w", err)
		}
	}
}

// write passes a piece of the file to the try, and reports whether the try still reads.
func (c *content) write(piece []byte) bool {
	_, err := c.in.Write(piece)
	return err == nil
}

func (c *content) progress(n int, sent int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || n == 0 {
		return
	}
	c.moves()
	if report := c.upload.params.OnProgress; report != nil {
		report(sent, c.upload.total)
	}
}
