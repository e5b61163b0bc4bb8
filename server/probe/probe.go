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
	// Header carries the nonce that doctor left in Redis, which proves that it belongs to us.
	Header = "X-Parlance-Probe"
	// Pause is the time between the two pieces of a probe's stream.
	Pause = time.Second

	maxBytes   = 64 << 20
	echoWithin = 30 * time.Second
)

// Seen is what a server saw of a request to Path.
type Seen struct {
	// BaseURL begins the URLs that a caller of this request would be handed.
	BaseURL string `json:"base_url"`
	// Protocol is that of the last hop: HTTP/1.1 or HTTP/2.0.
	Protocol string `json:"protocol"`
	TLS      bool   `json:"tls"`
	// Remote is the address of the last hop, Client whom we take for the caller.
	Remote string `json:"remote"`
	Client string `json:"client"`
	// Believed says that the last hop is among TRUSTED_PROXIES.
	Believed       bool   `json:"believed"`
	ForwardedFor   string `json:"forwarded_for"`
	ForwardedProto string `json:"forwarded_proto"`
	ForwardedHost  string `json:"forwarded_host"`
	// BodyBytes came in, and PauseMS was the longest wait for the next of them.
	BodyBytes int64 `json:"body_bytes"`
	PauseMS   int64 `json:"pause_ms"`
}

// Handler answers doctor, and nobody else: to a caller without a nonce of ours the path does not
// exist.
type Handler struct {
	// Known says whether a nonce is one that doctor left.
	Known   func(ctx context.Context, nonce string) bool
	Problem problem.Writer
	// Proxies are those whose X-Forwarded-* is believed.
	Proxies interceptor.Proxies
	Now     func() time.Time
}

// ServeHTTP echoes a message of a WebSocket, streams two pieces to whoever accepts an event
// stream, counts a POSTed body, and says what it saw.
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
	_ = json.NewEncoder(w).Encode(Seen{ // the caller is gone: nothing left to tell
		BaseURL: interceptor.BaseURL(r.Context()), Protocol: r.Proto, TLS: r.TLS != nil, Remote: remoteHost(r),
		Client: clientOf(r), Believed: h.Proxies.Believes(r),
		ForwardedFor: r.Header.Get("X-Forwarded-For"), ForwardedProto: r.Header.Get("X-Forwarded-Proto"),
		ForwardedHost: r.Header.Get("X-Forwarded-Host"),
		BodyBytes:     count, PauseMS: body.longest.Milliseconds(),
	})
}

// stopwatch remembers the longest wait for a piece.
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
	defer func() { _ = conn.CloseNow() }() // closed below unless the caller was rude
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), echoWithin)
	defer cancel()
	kind, message, err := conn.Read(ctx)
	if err == nil && conn.Write(ctx, kind, message) == nil {
		_ = conn.Close(websocket.StatusNormalClosure, "") // the echo was what counts
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

// remoteHost is the other end of the connection, without its port.
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
