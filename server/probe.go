package server

import (
	"context"
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
	// ProbePath is where `parlance doctor` asks what reaches a server through the proxies before it.
	ProbePath = "/healthz/probe"
	// ProbeHeader carries the nonce that doctor left in Redis, which proves that it belongs to us.
	ProbeHeader = "X-Parlance-Probe"
	// ProbePause is the time between the two pieces of a probe's stream.
	ProbePause = time.Second

	maxProbeBytes = 64 << 20
	probeTimeout  = 30 * time.Second
)

// Probe is what a server saw of a request to ProbePath.
type Probe struct {
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
	// BodyBytes came in within BodyMS of the headers.
	BodyBytes int64 `json:"body_bytes"`
	BodyMS    int64 `json:"body_ms"`
}

// probe answers doctor, and nobody else: to a caller without a nonce of ours the path does not exist.
type probe struct {
	known    func(ctx context.Context, nonce string) bool
	problems problem.Writer
	proxies  interceptor.Proxies
	now      func() time.Time
}

// ServeHTTP echoes a message of a WebSocket, streams two pieces to whoever accepts an event
// stream, counts a POSTed body, and says what it saw.
func (p probe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := r.Header.Get(ProbeHeader)
	if nonce == "" || !p.known(r.Context(), nonce) {
		p.problems.Write(w, r, fault.New(fault.RouteNotFound, "There is no such route."))
		return
	}
	switch {
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		p.echo(w, r)
	case strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		p.stream(w, r)
	default:
		p.describe(w, r)
	}
}

func (p probe) describe(w http.ResponseWriter, r *http.Request) {
	began := p.now()
	count, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxProbeBytes))
	if err != nil {
		p.problems.Write(w, r, fault.New(fault.InvalidRequest, "The body ended after %d bytes.", count))
		return
	}
	writeJSON(w, http.StatusOK, Probe{
		BaseURL: interceptor.BaseURL(r.Context()), Protocol: r.Proto, TLS: r.TLS != nil, Remote: remoteHost(r), Client: clientOf(r), Believed: p.proxies.Believes(r),
		ForwardedFor: r.Header.Get("X-Forwarded-For"), ForwardedProto: r.Header.Get("X-Forwarded-Proto"), ForwardedHost: r.Header.Get("X-Forwarded-Host"),
		BodyBytes: count, BodyMS: p.now().Sub(began).Milliseconds(),
	})
}

// echo sends the first message back and closes.
func (p probe) echo(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }() // closed below unless the caller was rude
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), probeTimeout)
	defer cancel()
	kind, message, err := conn.Read(ctx)
	if err == nil && conn.Write(ctx, kind, message) == nil {
		_ = conn.Close(websocket.StatusNormalClosure, "") // the echo was what counts
	}
}

// stream sends two events, ProbePause apart.
func (p probe) stream(w http.ResponseWriter, r *http.Request) {
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
		pause.Reset(ProbePause)
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
