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
	// headerTimeout is how long a stream may take to begin. The SDK waits for it without end.
	headerTimeout = 2 * time.Second
	// streamBytes is how much may come on the streams of a session that belong to no call, and, over
	// the older transport, on the one that all answers come on, between two calls.
	streamBytes = 16 << 20
	// callMessages is how many times the largest message an answer with its notifications may have.
	callMessages = 4

	userAgent = "Parlance-Tools/1"
)

// exchange is what became of one call's requests. The zero value is one that has none yet.
type exchange struct {
	connected atomic.Bool  // a connection was there to write to
	status    atomic.Int32 // of the last POST's answer
	tooLarge  atomic.Bool
	lost      atomic.Bool // the server does not know the session
	mu        sync.Mutex
	err       error // of the last POST
}

func (x *exchange) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = err
}

// last is why the last request had no answer; nil when it had.
func (x *exchange) last() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// door is the only way of a session to its server.
type door struct {
	base    http.RoundTripper
	origin  *url.URL
	headers map[string]string
	// maxMessage bounds one message; a call's answer with its notifications has callMessages times
	// that.
	maxMessage int64
	// left is what may still come on streams that belong to no call.
	left atomic.Int64
	// older says that the session speaks the older transport, whose stream must begin.
	older bool
}

// ours are headers that the transport writes; an operator's would break the session.
var ours = []string{"Accept", "Content-Type", "Content-Length", "Last-Event-Id", "Mcp-Session-Id", "Mcp-Protocol-Version"}

// RoundTrip is http.RoundTripper's.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != d.origin.Scheme || !strings.EqualFold(r.URL.Host, d.origin.Host) {
		if r.Body != nil {
			_ = r.Body.Close() // RoundTrip must close it, also on errors
		}
		return nil, errOtherOrigin
	}
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if r.Method != http.MethodPost {
		if r.Method == http.MethodGet {
			return d.stream(r)
		}
		return d.base.RoundTrip(d.dressed(r, r.Context()))
	}
	ctx := r.Context()
	if x != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.connected.Store(true) }})
	}
	response, err := d.base.RoundTrip(d.dressed(r, ctx))
	if x == nil {
		x = &exchange{}
	}
	if err != nil {
		x.fail(err)
		return nil, err
	}
	x.status.Store(int32(response.StatusCode))
	limit := d.maxMessage
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		limit *= callMessages
	}
	if response.StatusCode >= 300 {
		limit = 64 << 10 // an error in words
		x.lost.Store(forgotten(response))
	}
	var left atomic.Int64
	left.Store(limit)
	response.Body = &bounded{ReadCloser: response.Body, left: &left, over: func() { x.tooLarge.Store(true) }}
	return response, nil
}

// forgotten says whether an answer means that the server does not know the session. Source: MCP
// 2025-11-25, Transports, Session Management: 404; the protocol's reference server says 400 in
// words.
func forgotten(response *http.Response) bool {
	if response.StatusCode != http.StatusBadRequest {
		return response.StatusCode == http.StatusNotFound
	}
	begin, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	response.Body = readAgain{io.MultiReader(bytes.NewReader(begin), response.Body), response.Body}
	return err == nil && bytes.Contains(bytes.ToLower(begin), []byte("session"))
}

// readAgain is a body of which some was read.
type readAgain struct {
	io.Reader
	io.Closer
}

// dressed is the request with the operator's headers.
func (d *door) dressed(r *http.Request, ctx context.Context) *http.Request {
	out := r.Clone(ctx)
	out.Header.Set("User-Agent", userAgent)
	for name, value := range d.headers {
		if !slices.ContainsFunc(ours, func(own string) bool { return strings.EqualFold(own, name) }) {
			out.Header.Set(name, value)
		}
	}
	return out
}

// stream opens a stream. A server that does not begin one is taken for one that has none, which
// most servers may be; the older transport has nothing else, and there it is an error.
func (d *door) stream(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	timer := time.AfterFunc(headerTimeout, cancel)
	response, err := d.base.RoundTrip(d.dressed(r, ctx))
	begun := timer.Stop()
	if err != nil || !begun {
		cancel()
		if err == nil {
			_ = response.Body.Close()
		}
		if begun || d.older || r.Context().Err() != nil || r.Header.Get("Last-Event-Id") != "" {
			return nil, errors.Join(errors.New("the stream did not begin"), err)
		}
		return &http.Response{StatusCode: http.StatusMethodNotAllowed, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	body := &bounded{ReadCloser: response.Body, left: &d.left}
	response.Body = closing{ReadCloser: body, cancel: cancel}
	return response, nil
}

// refill lets more come on the session's streams: a call has begun.
func (d *door) refill() { d.left.Store(streamBytes + callMessages*d.maxMessage) }

// bounded ends in errTooLarge when more comes than is left.
type bounded struct {
	io.ReadCloser

	left *atomic.Int64
	over func()
}

// Read is io.Reader's.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left.Add(-int64(n)) < 0 {
		if b.over != nil {
			b.over()
		}
		return 0, errTooLarge
	}
	return n, err
}

// closing gives back the context of a stream with its body.
type closing struct {
	io.ReadCloser

	cancel context.CancelFunc
}

// Close is io.Closer's.
func (c closing) Close() error {
	c.cancel()
	return c.ReadCloser.Close()
}
