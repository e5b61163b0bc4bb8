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

// classic is the protocol version that servers are asked for first: nearly all speak it. One that
// speaks only what came after it refuses, and is asked anew.
const classic = "2025-11-25"

// session is an initialized connection to a server.
type session struct {
	*sdk.ClientSession

	door *door
	end  context.CancelFunc

	mu       sync.Mutex
	progress map[string]func() // by the token of a call
}

// attempt is one way to open a session.
type attempt struct {
	older   bool
	version string
}

// open connects and initializes, in the ways that a server may want, within ctx.
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

// olderMayAnswer says whether a status to the first POST may mean a server of the older transport.
// Source: MCP 2025-11-25, Transports, Backwards Compatibility; other 4xx are seen in the wild, but
// those about who asks, or how often, are the same over the older one.
func olderMayAnswer(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

func (c *Client) try(ctx context.Context, e Endpoint, changed func(), a attempt) (*session, *exchange, error) {
	x := &exchange{}
	origin, err := url.Parse(e.URL)
	if err != nil {
		return nil, x, errOtherOrigin // without its text, which holds the URL
	}
	s := &session{progress: map[string]func(){}}
	s.door = &door{base: c.http.Transport, origin: origin, headers: e.Headers, maxMessage: e.maxMessage(), older: a.older}
	s.door.refill()
	client := &http.Client{Transport: s.door, CheckRedirect: c.http.CheckRedirect}
	var transport sdk.Transport = &sdk.StreamableClientTransport{Endpoint: e.URL, HTTPClient: client, MaxRetries: maxStreamRetries, MaxEventSize: int(e.maxMessage())}
	if a.older {
		transport = &sdk.SSEClientTransport{Endpoint: e.URL, HTTPClient: client, MaxEventSize: int(e.maxMessage())}
	}
	asked := sdk.NewClient(&sdk.Implementation{Name: "parlance", Version: c.version}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{}, // none: a server has nothing to ask us for
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		ProgressNotificationHandler: s.progressed,
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true},
	})
	// The session outlives the call that opens it, so its context is not that call's; but until it is
	// open, it ends with it.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, end)
	opened, err := asked.Connect(withExchange(life, x), transport, &sdk.ClientSessionOptions{ProtocolVersion: a.version})
	if !detach() && err == nil {
		_ = opened.Close() // its life is over already
		err = ctx.Err()
	}
	if err != nil {
		end()
		return nil, x, err
	}
	s.ClientSession, s.end = opened, end
	return s, x, nil
}

// maxStreamRetries is how often a stream that breaks is opened again before the session is given
// up.
const maxStreamRetries = 3

// progressed prolongs the call that reports progress.
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

// close ends the session and tells the server, for a few seconds.
func (s *session) close() {
	_ = s.ClientSession.Close() // a server that does not want to hear it forgets the session by itself
	s.end()
}
