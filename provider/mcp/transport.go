package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// headerTimeout is how long a stream may take to begin. The SDK has no timeout for it.
	headerTimeout = 2 * time.Second
	// streamBytes bounds what is read from the stream that belongs to no call between two calls. The
	// stream of the older transport has the answers, and is bounded as they are.
	streamBytes = 16 << 20
	// callMessages is the size of an answer with its notifications, in units of the largest message.
	callMessages = 4

	userAgent = "Parlance-Tools/1"
)

// exchange is the result of the requests of one call. The zero value has no requests yet.
type exchange struct {
	connected atomic.Bool  // there was a connection to write to
	status    atomic.Int32 // of the answer to the last POST
	tooLarge  atomic.Bool
	lost      atomic.Bool // the server does not know the session
	mu        sync.Mutex
	err       error // of the last POST
	// received is what the servers answered to POSTs.
	received []byte
}

func (x *exchange) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = err
}

// last is why the last request had no answer. nil when it had one.
func (x *exchange) last() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// guard is the http.RoundTripper of a session. It bounds what a server sends, and where requests
// go.
type guard struct {
	base    http.RoundTripper
	origin  *url.URL
	headers map[string]string
	// maxMessage bounds one message. An answer with its notifications has callMessages times that.
	maxMessage int64
	// left is how many bytes may still be read from the stream that belongs to no call.
	left atomic.Int64
	// current is the latest call.
	current atomic.Pointer[exchange]
	// older says that the session uses the older transport, whose stream must begin.
	older bool
}

// protocolHeaders are headers that the transport sets. Those of an operator would break the
// session.
var protocolHeaders = []string{"Accept", "Content-Type", "Content-Length", "Last-Event-Id", "Mcp-Session-Id", "Mcp-Protocol-Version"}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != g.origin.Scheme || !strings.EqualFold(r.URL.Host, g.origin.Host) {
		if r.Body != nil {
			_ = r.Body.Close() // RoundTrip must close it also on errors
		}
		return nil, errOtherOrigin
	}
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if r.Method != http.MethodPost {
		if r.Method == http.MethodGet {
			return g.stream(r)
		}
		return g.base.RoundTrip(g.withHeaders(r, r.Context()))
	}
	ctx := r.Context()
	if x != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.connected.Store(true) }})
	}
	response, err := g.base.RoundTrip(g.withHeaders(r, ctx))
	if x == nil {
		x = &exchange{}
	}
	if err != nil {
		x.fail(err)
		return nil, err
	}
	x.status.Store(int32(response.StatusCode))
	limit := g.maxMessage
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		limit *= callMessages
	}
	if response.StatusCode >= 300 {
		limit = 64 << 10 // an error message
		x.lost.Store(unknownSession(response))
	}
	var left atomic.Int64
	left.Store(limit)
	response.Body = &bounded{ReadCloser: response.Body, left: &left, over: func() { x.tooLarge.Store(true) }, keep: x.keep}
	return response, nil
}

// unknownSession says whether an answer means that the server does not know the session. Source:
// MCP 2025-11-25, Transports, Session Management: 404. The reference server of the protocol answers
// 400 with a text.
func unknownSession(response *http.Response) bool {
	if response.StatusCode != http.StatusBadRequest {
		return response.StatusCode == http.StatusNotFound
	}
	begin, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	response.Body = readAgain{io.MultiReader(bytes.NewReader(begin), response.Body), response.Body}
	return err == nil && bytes.Contains(bytes.ToLower(begin), []byte("session"))
}

// readAgain is a body whose beginning was read already.
type readAgain struct {
	io.Reader
	io.Closer
}

// withHeaders is the request with the headers of the operator.
func (g *guard) withHeaders(r *http.Request, ctx context.Context) *http.Request {
	out := r.Clone(ctx)
	out.Header.Set("User-Agent", userAgent)
	for name, value := range g.headers {
		if !slices.ContainsFunc(protocolHeaders, func(own string) bool { return strings.EqualFold(own, name) }) {
			out.Header.Set(name, value)
		}
	}
	return out
}

// stream opens a stream. A server that does not begin it is treated as one without a stream, which
// servers need not have. In the older transport, which needs it, that is an error.
func (g *guard) stream(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	timer := time.AfterFunc(headerTimeout, cancel)
	response, err := g.base.RoundTrip(g.withHeaders(r, ctx))
	begun := timer.Stop()
	if err != nil || !begun {
		cancel()
		if err == nil {
			_ = response.Body.Close()
		}
		if begun || g.older || r.Context().Err() != nil || r.Header.Get("Last-Event-Id") != "" {
			return nil, errors.Join(errors.New("the stream did not begin"), err)
		}
		return &http.Response{StatusCode: http.StatusMethodNotAllowed, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	body := &bounded{ReadCloser: response.Body, left: &g.left, over: func() {
		if g.older {
			g.current.Load().tooLarge.Store(true)
		}
	}}
	response.Body = closing{ReadCloser: body, cancel: cancel}
	return response, nil
}

// begin begins a call, for which the stream may bring more again.
func (g *guard) begin(x *exchange) {
	g.current.Store(x)
	if g.older {
		g.left.Store(g.maxMessage)
		return
	}
	g.left.Store(streamBytes + callMessages*g.maxMessage)
}

// bounded is a body that ends in errTooLarge when there is more than left.
type bounded struct {
	io.ReadCloser

	left *atomic.Int64
	over func()
	keep func([]byte)
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left.Add(-int64(n)) < 0 {
		if b.over != nil {
			b.over()
		}
		return 0, errTooLarge
	}
	if b.keep != nil {
		b.keep(p[:n])
	}
	return n, err
}

// closing cancels the context of a stream with its body.
type closing struct {
	io.ReadCloser

	cancel context.CancelFunc
}

// Close implements io.Closer.
func (c closing) Close() error {
	c.cancel()
	return c.ReadCloser.Close()
}
