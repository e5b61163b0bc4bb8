package publicnet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// ErrUnserved says that a server took a request several times and said each time that it had not
// processed it.
var ErrUnserved = errors.New("the server ended the request each time without processing it")

// maxSends is how often one request is sent. net/http repeats what a server says it has not
// processed (a connection that ended while it was idle, HTTP/2's GOAWAY and REFUSED_STREAM) without
// an end, as fast as it can connect: one request would become hundreds a second, each with a
// handshake.
const maxSends = 3

// sends counts what is done for one request.
type sends struct{ dials, bodies atomic.Int32 }

type sendsKey struct{}

// bounded is the request with a bound of its own; its dials are bounded by boundDials.
func bounded(r *http.Request) *http.Request {
	s := new(sends)
	r = r.WithContext(context.WithValue(r.Context(), sendsKey{}, s))
	if again := r.GetBody; again != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			if s.bodies.Add(1) >= maxSends {
				return nil, ErrUnserved
			}
			return again()
		}
	}
	return r
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// boundDials lets a request make no more connections than it may be sent.
func boundDials(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if s, ok := ctx.Value(sendsKey{}).(*sends); ok && s.dials.Add(1) > maxSends {
			return nil, ErrUnserved
		}
		return dial(ctx, network, address)
	}
}
