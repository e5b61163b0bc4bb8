package interceptor

import (
	"io"
	"net/http"
	"time"
)

const (
	// bodyStallTimeout is how long a caller may be silent in the middle of a body.
	bodyStallTimeout = 30 * time.Second
	// lingerTime is how long the rest of a refused body is waited for before the connection closes.
	// net/http reads on before it answers, so that a caller that is still sending sees the answer.
	lingerTime = 2 * time.Second
)

// WithBodyDeadlines ends a request whose body arrives too slowly or not at all. now must be the
// real clock: connections have real deadlines. A connection of HTTP/1 is closed after a chunked
// body. Such a request may have had a Content-Length too, which net/http does not show; a proxy
// may then see another end of the body, and what follows it cannot be trusted. Source: RFC 9112,
// 6.1.
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

// watchedBody sets a deadline for each read, and removes it afterwards: a deadline that stayed
// would end the connection under a handler that reads no more.
type watchedBody struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	// until bounds every later read; zero means no bound.
	until time.Time
	ended bool
}

// BoundBody bounds all later reads of a request body, for handlers that read on after they have
// decided. It has no effect on a body that WithBodyDeadlines did not make.
func BoundBody(body io.Reader, until time.Time) {
	if watched, ok := body.(*watchedBody); ok {
		watched.until = until
	}
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	deadline := b.now().Add(bodyStallTimeout)
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
	_ = b.control.SetReadDeadline(until) // not every writer supports deadlines
}
