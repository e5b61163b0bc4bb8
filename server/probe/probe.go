package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
)

const (
	// Path is where `parlance doctor` asks what reaches a server through the proxies before it.
	Path = "/healthz/probe"
	// Header carries the nonce that doctor left in Redis, which proves that the caller belongs to the
	// installation.
	Header = "X-Parlance-Probe"
	// Pause is the time between the two pieces of a probe's stream.
	Pause = time.Second

	maxBytes   = 64 << 20
	echoWithin = 30 * time.Second
)

// Seen describes a request to Path as the server saw it.
type Seen struct {
	// BaseURL is the prefix of the URLs that a caller of this request would be given.
	BaseURL string `json:"base_url"`
	// Protocol is that of the last hop: HTTP/1.1 or HTTP/2.0.
	Protocol string `json:"protocol"`
	TLS      bool   `json:"tls"`
	// Remote is the address of the last hop, Client that of the caller.
	Remote string `json:"remote"`
	Client string `json:"client"`
	// Believed reports whether the last hop is among TRUSTED_PROXIES.
	Believed       bool   `json:"believed"`
	ForwardedFor   string `json:"forwarded_for"`
	ForwardedProto string `json:"forwarded_proto"`
	ForwardedHost  string `json:"forwarded_host"`
	// BodyBytes is the size of the body, PauseMS the longest wait for the next part of it.
	BodyBytes int64 `json:"body_bytes"`
	PauseMS   int64 `json:"pause_ms"`
}

// Handler answers doctor alone: for a caller without a valid nonce the path does not exist.
type Handler struct {
	// Known reports whether a nonce was left by doctor.
	Known   func(ctx context.Context, nonce string) bool
	Problem problem.Writer
	// Proxies are those whose X-Forwarded-* is trusted.
	Proxies interceptor.Proxies
	Now     func() time.Time
}

// ServeHTTP echoes a message of a WebSocket, streams two events to a caller that accepts an event
// stream, counts a POSTed body, and reports what it saw.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := r.Header.Get(Header)
	if nonce == "" || !h.Known(r.Context(), nonce) {
		h.Problem.Write(w, r, fault.New(fault.RouteNotFound, "There is no such route."))
		return
	}
	switch {
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		h.echo(w, r)
	case strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		h.stream(w, r)
	default:
		h.describe(w, r)
	}
}

func (h Handler) describe(w http.ResponseWriter, r *http.Request) {
	body := &stopwatch{reader: http.MaxBytesReader(w, r.Body, maxBytes), now: h.Now}
	count, err := io.Copy(io.Discard, body)
	if err != nil {
		h.Problem.Write(w, r, fault.New(fault.InvalidRequest, "The body ended after %d bytes.", count))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Seen{ // the caller has hung up
		BaseURL: interceptor.BaseURL(r.Context()), Protocol: r.Proto, TLS: r.TLS != nil, Remote: remoteHost(r),
		Client: clientOf(r), Believed: h.Proxies.Trusts(r),
		ForwardedFor: r.Header.Get("X-Forwarded-For"), ForwardedProto: r.Header.Get("X-Forwarded-Proto"),
		ForwardedHost: r.Header.Get("X-Forwarded-Host"),
		BodyBytes:     count, PauseMS: body.longest.Milliseconds(),
	})
}

// stopwatch measures the longest wait for a part of a body.
type stopwatch struct {
	reader  io.Reader
	now     func() time.Time
	longest time.Duration
}

// Read implements io.Reader.
func (s *stopwatch) Read(p []byte) (int, error) {
	began := s.now()
	n, err := s.reader.Read(p)
	s.longest = max(s.longest, s.now().Sub(began))
	return n, err
}

// echo sends the first message back and closes.
func (h Handler) echo(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }() // has no effect after Close
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), echoWithin)
	defer cancel()
	kind, message, err := conn.Read(ctx)
	if err == nil && conn.Write(ctx, kind, message) == nil {
		_ = conn.Close(websocket.StatusNormalClosure, "") // the caller may have hung up
	}
}

// stream sends two events, Pause apart.
func (h Handler) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	pause := time.NewTimer(0)
	defer pause.Stop()
	for piece := range 2 {
		select {
		case <-r.Context().Done():
			return
		case <-pause.C:
		}
		if _, err := fmt.Fprintf(w, "event: piece\ndata: %d\n\n", piece+1); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // a writer that cannot flush is what doctor finds out
		pause.Reset(Pause)
	}
}

// remoteHost returns the connection's other end without its port.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func clientOf(r *http.Request) string {
	address := interceptor.ClientAddress(r.Context())
	if !address.IsValid() {
		return ""
	}
	return address.String()
}
