package realtime

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/crew"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/realtime/wire"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Prefix is where the handler belongs in a mux.
const Prefix = "/v1/realtime/"

// Defaults of Deps. Source: decisions, Sessions (the ping); the others are our own.
const (
	defaultPingEvery    = 20 * time.Second
	defaultPongWithin   = 10 * time.Second
	defaultWriteWithin  = 10 * time.Second
	defaultReadWithin   = 30 * time.Second
	defaultMaxFrame     = 1 << 20
	defaultMaxUnwritten = 4 << 20
)

// Deps is what a Handler works with; Sessions and Log are required.
type Deps struct {
	Sessions *live.Service
	Log      *slog.Logger
	Problem  problem.Writer
	// Redis keeps for some minutes what sockets were sent, for clients that come back on another node;
	// nil: those get what they missed as whole items.
	Redis goredis.UniversalClient
	// Registry gets what is measured; nil: nobody does.
	Registry prometheus.Registerer
	// Context ends when the server is being stopped: sockets are closed and clients told to
	// connect again. nil never ends.
	Context context.Context //nolint:containedctx // the life of hijacked connections, which no request's context spans
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Limits: zero fields are the defaults; only the numbers of sockets are set outside tests.
	Limits Limits
}

// Limits bound a socket.
type Limits struct {
	// PingEvery is 20 s; a pong must come within PongWithin, 10 s.
	PingEvery  time.Duration
	PongWithin time.Duration
	// WriteWithin is how long what is written at once, 64 KiB or one frame, may take; 10 s.
	WriteWithin time.Duration
	// ReadWithin is how long a message of the client may take from its first byte to its last, 30 s.
	ReadWithin time.Duration
	// MaxFrameBytes is 1 MiB, of all pieces of a message.
	MaxFrameBytes int
	// MaxUnwrittenBytes is what may wait to be written, 4 MiB.
	MaxUnwrittenBytes int
	Rates             Rates
	// MaxSockets is how many may be open here, MaxSocketsPerTenant how many of one tenant; 0: any number.
	MaxSockets, MaxSocketsPerTenant int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		PingEvery: or(l.PingEvery, defaultPingEvery), PongWithin: or(l.PongWithin, defaultPongWithin),
		WriteWithin: or(l.WriteWithin, defaultWriteWithin), MaxFrameBytes: or(l.MaxFrameBytes, defaultMaxFrame),
		MaxUnwrittenBytes: or(l.MaxUnwrittenBytes, defaultMaxUnwritten),
		MaxSockets:        l.MaxSockets, MaxSocketsPerTenant: l.MaxSocketsPerTenant,
		ReadWithin: or(l.ReadWithin, defaultReadWithin), Rates: l.Rates.withDefaults(),
	}
}

// or is value, or otherwise when it is zero.
func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Handler serves the sockets. Safe for concurrent use.
type Handler struct {
	deps   Deps
	limits Limits

	mu sync.Mutex
	// draining says that Wait was called; guarded by mu.
	draining bool
	// count and tenants are the sockets that are open; guarded by mu.
	count   int
	tenants map[workspaces.TenantID]int
	open    sync.WaitGroup
	sockets *prometheus.GaugeVec
	// behind counts the recorders whose sockets are lost.
	behind sync.WaitGroup
	relay  *relay // nil without Redis
	beats  beats
	// crew writes to the sockets.
	crew crew.Crew
}

// New makes the handler; it belongs at Prefix.
func New(d Deps) *Handler {
	if d.Context == nil {
		d.Context = context.Background()
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	h := &Handler{deps: d, tenants: map[workspaces.TenantID]int{}, limits: d.Limits.withDefaults(), sockets: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parlance_sockets_open", Help: "WebSockets of sessions that are open here; channel is voice or chat.",
	}, []string{"channel"})}
	h.beats.limits, h.beats.stopping = &h.limits, d.Context
	if d.Registry != nil {
		d.Registry.MustRegister(h.sockets)
	}
	if d.Redis != nil {
		h.relay = newRelay(d.Redis, d.Log)
	}
	return h
}

// Close writes down what sockets were sent last. It is called once the conversations of this node
// are closed, which ends what went on for clients that were away. Errors: ctx's.
func (h *Handler) Close(ctx context.Context) error {
	gone := make(chan struct{})
	go func() { // ends with the conversations
		h.behind.Wait()
		close(gone)
	}()
	var err error
	select {
	case <-gone:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if h.relay != nil {
		h.relay.close()
	}
	if err == nil {
		h.crew.Close()
	}
	return err
}

// Wait refuses new sockets and returns when none is left. Called once Deps.Context has ended it
// takes some seconds at most. net/http does not wait for connections that were upgraded.
// Errors: ctx's.
func (h *Handler) Wait(ctx context.Context) error {
	h.mu.Lock()
	h.draining = true
	h.mu.Unlock()
	gone := make(chan struct{})
	go func() { // ends with the sockets
		h.open.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ServeHTTP admits a socket, which goes on by itself: what the request held is let go.
// Problems: 401 session-token-invalid, 403 session-modality, 409 session-closed, 400
// invalid-request (no WebSocket), 404 route-not-found, 405 method-not-allowed, 503 unavailable
// (the server is being stopped).
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	admission, err := h.admit(w, r)
	if err != nil {
		h.deps.Problem.Write(w, r, err)
		return
	}
	tenant := admission.Session.TenantID
	if err := h.enter(tenant); err != nil {
		h.deps.Problem.Write(w, r, err)
		return
	}
	// Any origin: the signed URL is the authority, no cookie is read, and browsers of any customer's
	// site connect.
	conn, err := wire.Accept(w, r, selected(r), wire.Limits{
		MaxMessageBytes: h.limits.MaxFrameBytes, ReadWithin: h.limits.ReadWithin, WriteWithin: h.limits.WriteWithin,
	})
	if err != nil {
		h.leave(tenant)
		h.deps.Log.WarnContext(r.Context(), "socket not opened", telemetry.KeyError, err)
		return
	}
	open := h.sockets.WithLabelValues(string(admission.Channel))
	open.Inc()
	h.serve(r, conn, admission, func() {
		open.Dec()
		h.leave(tenant)
	})
}

// enter counts a socket. Errors: Unavailable unavailable once the server is being stopped or has as many
// as it may, RateLimited rate-limited when the tenant has.
func (h *Handler) enter(tenant workspaces.TenantID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.draining || h.deps.Context.Err() != nil:
		return fault.New(fault.ServiceUnavailable, "This server is being stopped. Connect again.")
	case h.limits.MaxSockets > 0 && h.count >= h.limits.MaxSockets:
		return later(fault.New(fault.ServiceUnavailable, "This server has all the sockets it may (PARLANCE_SOCKET_MAX). Connect again in a while."))
	case h.limits.MaxSocketsPerTenant > 0 && h.tenants[tenant] >= h.limits.MaxSocketsPerTenant:
		return later(fault.New(fault.RateLimitedReason, "The tenant has %d sockets on this server, as many as it may (PARLANCE_SOCKET_MAX_PER_TENANT). Close some, or connect again in a while.", h.tenants[tenant]))
	}
	h.count++
	h.tenants[tenant]++
	h.open.Add(1)
	return nil
}

// retryAfter is when a client that was refused may try again.
const retryAfter = 5 * time.Second

func later(err *fault.Error) error {
	err.RetryAfter = retryAfter
	return err
}

// leave forgets a socket that entered.
func (h *Handler) leave(tenant workspaces.TenantID) {
	h.mu.Lock()
	h.count--
	if h.tenants[tenant]--; h.tenants[tenant] == 0 {
		delete(h.tenants, tenant)
	}
	h.mu.Unlock()
	h.open.Done()
}

// admit does everything before the upgrade. The token is looked at before the upgrade's headers,
// so that a plain GET with a bad token says what is wrong with it.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (live.Admission, error) {
	channel, id, ok := route(r.URL.Path)
	if !ok {
		return live.Admission{}, fault.New(fault.RouteNotFound, "No WebSocket at %s. Use ws_url or chat_url of a session.", r.URL.Path)
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		return live.Admission{}, fault.New(fault.MethodNotAllowedReason, "This is a WebSocket URL; it takes GET with an upgrade only.")
	}
	token, upgrade := tokenOf(r), wire.IsUpgrade(r)
	if token == "" && !upgrade {
		return live.Admission{}, errNoUpgrade(w)
	}
	admission, err := h.deps.Sessions.Admit(r.Context(), live.AdmitParams{SessionID: id, Token: token, Channel: channel})
	if err != nil {
		return live.Admission{}, err
	}
	if !upgrade {
		return live.Admission{}, errNoUpgrade(w)
	}
	// The client of this protocol says first what it wants of the greeting.
	admission.HoldGreeting = slices.Contains(selected(r), protocolElevenLabs)
	return admission, nil
}

func errNoUpgrade(w http.ResponseWriter) error {
	w.Header().Set("Upgrade", "websocket")
	w.Header().Set("Sec-WebSocket-Version", "13") // what a client of another version goes by. Source: RFC 6455, 4.4
	return fault.New(fault.InvalidRequest, "This is a WebSocket URL. Open it with a WebSocket client over HTTP/1.1 (wss:// or ws://), not with a plain request.")
}

// route takes a path apart: voice or chat, a session, and perhaps /realtime.
func route(path string) (sessions.LiveChannel, sessions.ID, bool) {
	rest, ok := strings.CutPrefix(path, Prefix)
	if !ok {
		return "", "", false
	}
	rest = strings.TrimSuffix(rest, "/realtime")
	name, id, _ := strings.Cut(rest, "/")
	channel := sessions.LiveChannel(name)
	known := channel == sessions.VoiceChannel || channel == sessions.ChatChannel
	return channel, sessions.ID(id), known && id != "" && !strings.Contains(id, "/")
}
