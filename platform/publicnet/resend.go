package publicnet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// ErrUnserved is the error when a server has received a request maxSends times and has answered
// each time that it did not process it.
var ErrUnserved = errors.New("the server ended the request each time without processing it")

// maxSends is how often one request is sent. net/http sends a request again when the server has not
// processed it (an idle connection that was closed, HTTP/2's GOAWAY and REFUSED_STREAM), without a
// limit and as fast as it can connect: one request would become hundreds a second, each with a
// handshake.
const maxSends = 3

// replayHeaders make net/http treat any request as idempotent: when an idle connection is closed
// while the request is on it, net/http sends the request again. Receivers are not known to honour
// these headers, and the second request would be recorded nowhere.
var replayHeaders = []string{"Idempotency-Key", "X-Idempotency-Key"}

// withoutReplay spells the replayHeaders of a request that is not idempotent in lower case.
// net/http looks for the canonical names only; to the server the names mean the same.
func withoutReplay(r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return
	}
	r.Header = r.Header.Clone()
	for _, name := range replayHeaders {
		if values, ok := r.Header[name]; ok {
			delete(r.Header, name)
			r.Header[strings.ToLower(name)] = values
		}
	}
}

// sends counts the connections and bodies of one request.
type sends struct{ dials, bodies atomic.Int32 }

type sendsKey struct{}

// bounded returns a copy of the request with counters of its own, which bound its bodies here and
// its connections in boundDials, and without headers that have net/http replay it.
func bounded(r *http.Request) *http.Request {
	s := new(sends)
	r = r.WithContext(context.WithValue(r.Context(), sendsKey{}, s))
	withoutReplay(r)
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

// boundDials lets one request make at most maxSends connections.
func boundDials(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if s, ok := ctx.Value(sendsKey{}).(*sends); ok && s.dials.Add(1) > maxSends {
			return nil, ErrUnserved
		}
		return dial(ctx, network, address)
	}
}
