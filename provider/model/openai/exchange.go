package openai

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

type streamError = ssestream.StreamError

// exchange remembers what the SDK does not tell: the status and headers of the last attempt,
// also when its body is no JSON, and whether the stream said that it was done.
type exchange struct {
	status int
	header http.Header
	body   *doneReader
}

func (x *exchange) middleware(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	x.status, x.header, x.body = 0, nil, nil
	res, err := next(req)
	if err != nil {
		return res, err //nolint:wrapcheck // the SDK looks at the error's type
	}
	x.status, x.header = res.StatusCode, res.Header
	x.body = &doneReader{ReadCloser: res.Body}
	res.Body = x.body
	return res, nil
}

func (x *exchange) done() bool { return x.body != nil && x.body.done }

// detail is the server's own text when the SDK could read it.
func (x *exchange) detail(err error) string {
	if api, ok := errors.AsType[*openai.Error](err); ok && api.Message != "" {
		return api.Message
	}
	return err.Error()
}

// doneMark ends a stream. The SDK hides it, but it is what tells an answer without a finish
// reason from a connection that was closed politely half-way.
var doneMark = []byte("[DONE]")

// doneReader notes whether doneMark passed by, also across reads.
type doneReader struct {
	io.ReadCloser
	tail []byte
	done bool
}

func (r *doneReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	seen := append(r.tail, p[:n]...)
	r.done = r.done || bytes.Contains(seen, doneMark)
	keep := min(len(seen), len(doneMark)-1)
	r.tail = append(r.tail[:0:0], seen[len(seen)-keep:]...)
	return n, err //nolint:wrapcheck // io.EOF must stay io.EOF
}

// overloaded says whether an error event is about load rather than a fault.
func overloaded(data []byte) bool {
	lower := bytes.ToLower(data)
	return bytes.Contains(lower, []byte("overloaded")) || bytes.Contains(lower, []byte("rate_limit"))
}
