package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Time-outs of a session. Source: decisions, Tools.
const (
	initializeTimeout = 10 * time.Second
	listTimeout       = 10 * time.Second
)

// classic is the protocol version that is requested first, because nearly all servers have it. A
// server with only later versions refuses it and is asked again.
const classic = "2025-11-25"

// session is an initialized connection to a server.
type session struct {
	*sdk.ClientSession

	guard *guard
	end   context.CancelFunc

	// key and the next two belong to the client's pool.
	key      string
	released int64       // the number of its last release
	timer    *time.Timer // runs while the session is unused

	mu       sync.Mutex
	progress map[string]func() // by the token of a call
}

// attempt is one way to open a session.
type attempt struct {
	older   bool
	version string
}

// open connects and initializes. It tries the transports and versions that a server may need.
func (c *Client) open(ctx context.Context, e Endpoint, changed func()) (*session, *Error) {
	s, x, err := c.try(ctx, e, changed, attempt{version: classic})
	if err == nil {
		return s, nil
	}
	first := classify(ctx, err, x)
	if refusal(err) != nil && ctx.Err() == nil {
		if s, _, err := c.try(ctx, e, changed, attempt{}); err == nil {
			return s, nil
		}
	}
	if olderMayAnswer(first.Status) && ctx.Err() == nil {
		s, sseExchange, err := c.try(ctx, e, changed, attempt{older: true, version: classic})
		if err == nil {
			return s, nil
		}
		if errors.Is(err, errOtherOrigin) {
			return nil, classify(ctx, err, sseExchange)
		}
	}
	if ctx.Err() != nil {
		first = classify(ctx, ctx.Err(), x)
	}
	return nil, first
}

// olderMayAnswer says whether a status of the first POST may mean a server of the older transport.
// Source: MCP 2025-11-25, Transports, Backwards Compatibility. Other 4xx are common too, but those
// about credentials or rates would be the same over the older transport.
func olderMayAnswer(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

func (c *Client) try(ctx context.Context, e Endpoint, changed func(), a attempt) (*session, *exchange, error) {
	x := &exchange{}
	origin, err := url.Parse(e.URL)
	if err != nil {
		return nil, x, errOtherOrigin // without its text, which has the URL
	}
	s := &session{progress: map[string]func(){}}
	s.guard = &guard{base: c.http.Transport, origin: origin, headers: e.Headers, maxMessage: e.maxMessage(), older: a.older}
	s.guard.begin(x)
	client := &http.Client{Transport: s.guard, CheckRedirect: c.http.CheckRedirect}
	var transport sdk.Transport = &sdk.StreamableClientTransport{
		Endpoint: e.URL, HTTPClient: client, MaxRetries: maxStreamRetries, MaxEventSize: int(e.maxMessage()),
	}
	if a.older {
		// The guard bounds what is read: the SDK would not say that it was too large.
		transport = &sdk.SSEClientTransport{Endpoint: e.URL, HTTPClient: client, MaxEventSize: -1}
	}
	asked := sdk.NewClient(&sdk.Implementation{Name: "parlance", Version: c.version}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{}, // none: a server cannot send requests
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		ProgressNotificationHandler: s.progressed,
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true},
	})
	// The session outlives the call that opens it, so it has a context of its own. Only opening it
	// ends with the call.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, end)
	opened, err := asked.Connect(withExchange(life, x), transport, &sdk.ClientSessionOptions{ProtocolVersion: a.version})
	if !detach() && err == nil {
		_ = opened.Close() // the client was closed meanwhile
		err = ctx.Err()
	}
	if err != nil {
		end()
		return nil, x, err
	}
	s.ClientSession, s.end = opened, end
	return s, x, nil
}

// maxStreamRetries is how often a broken stream is opened again before the session ends.
const maxStreamRetries = 3

// progressed restarts the timeout of the call that reports progress.
func (s *session) progressed(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	s.mu.Lock()
	prolong := s.progress[token]
	s.mu.Unlock()
	if prolong != nil {
		prolong()
	}
}

func (s *session) onProgress(token string, prolong func()) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress[token] = prolong
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.progress, token)
	}
}

// close ends the session and tells the server, which takes a few seconds at most.
func (s *session) close() {
	_ = s.ClientSession.Close() // a server also ends idle sessions by itself
	s.end()
}
