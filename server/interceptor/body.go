package interceptor

import (
	"io"
	"net/http"
	"time"
)

const (
	// stallTime is how long a caller may be silent in the middle of a body.
	stallTime = 30 * time.Second
	// lingerTime is how long a body that was refused is waited for before the connection closes:
	// net/http reads on before it answers, so that callers in the middle of sending see the answer.
	lingerTime = 2 * time.Second
)

// WithBodyDeadlines lets no caller hold a request by sending its body slowly or not at all. now is
// the real clock: connections' deadlines are set by it.
//
// A connection of HTTP/1 ends with a chunked body: where it came with a Content-Length too, which
// net/http hides from us, a proxy may see another end of it, and what follows is not to be
// believed. Source: RFC 9112, 6.1.
func WithBodyDeadlines(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		body := &watchedBody{ReadCloser: r.Body, control: http.NewResponseController(w), now: now}
		r.Body = body
		next.ServeHTTP(w, r)
		if !body.ended {
			body.allow(now().Add(lingerTime))
		}
	})
}

// watchedBody sets a deadline for each read, and takes it off again: one that stayed would end
// the connection under a handler that has read all it wants.
type watchedBody struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	// until bounds every read that follows; zero is no bound.
	until time.Time
	ended bool
}

// BoundBody lets no later read of a request's body last beyond until, for handlers that read on
// after they have decided. It reports false for a body that WithBodyDeadlines did not make.
func BoundBody(body io.Reader, until time.Time) bool {
	watched, ok := body.(*watchedBody)
	if ok {
		watched.until = until
	}
	return ok
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	deadline := b.now().Add(stallTime)
	if !b.until.IsZero() && b.until.Before(deadline) {
		deadline = b.until
	}
	b.allow(deadline)
	n, err := b.ReadCloser.Read(p)
	b.allow(time.Time{})
	b.ended = b.ended || err == io.EOF
	return n, err
}

func (b *watchedBody) allow(until time.Time) {
	_ = b.control.SetReadDeadline(until) // a writer without deadlines has none to keep
}
