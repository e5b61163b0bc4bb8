package realtime

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/realtime/websocket"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/workspaces"
)

// Prefix is where the handler belongs in a mux.
const Prefix = "/v1/realtime/"

// retryAfter is when a client that found no free socket may try again.
const retryAfter = 5 * time.Second

// Deps is what a Handler works with. Sessions and Log are required.
type Deps struct {
	Sessions *live.Service
	// Voice speaks and hears on voice sockets; nil: they are text.
	Voice *voice.Service
	// Calls are told how telephone calls go; nil: nobody is.
	Calls   Calls
	Log     *slog.Logger
	Problem problem.Writer
	// Redis keeps for some minutes what sockets were sent, for clients that come back on another
	// node. With nil such clients get what they missed as whole items.
	Redis goredis.UniversalClient
	// Registry gets the metrics; nil: there are none.
	Registry prometheus.Registerer
	// Context ends when the server stops: sockets are closed with a reason that asks clients to
	// connect again. nil never ends.
	Context context.Context //nolint:containedctx // hijacked connections outlive the contexts of requests
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Limits: outside tests only the numbers of sockets are set.
	Limits Limits
}

// Handler serves the sockets. Safe for concurrent use.
type Handler struct {
	deps   Deps
	limits Limits
	frames *frameStore // nil without Redis

	sockets *prometheus.GaugeVec
	// open waits for the open sockets, recordings for those that go on without their socket.
	open, recordings sync.WaitGroup

	mu sync.Mutex
	// What follows is guarded by mu. stopping is set when Wait was called. count is the number of
	// open sockets, tenants that of each tenant.
	stopping bool
	count    int
	tenants  map[workspaces.TenantID]int
}

// New makes the handler; it belongs at Prefix.
func New(d Deps) *Handler {
	if d.Context == nil {
		d.Context = context.Background()
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	sockets := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parlance_sockets_open",
		Help: "WebSockets of sessions that are open here; channel is voice or chat.",
	}, []string{"channel"})
	h := &Handler{
		deps: d, limits: d.Limits.withDefaults(), sockets: sockets,
		tenants: map[workspaces.TenantID]int{},
	}
	if d.Registry != nil {
		d.Registry.MustRegister(sockets)
	}
	if d.Redis != nil {
		h.frames = newFrameStore(d.Redis, d.Log, d.Now)
	}
	return h
}

// Wait refuses new sockets and returns when none is open. Once Deps.Context has ended it takes some
// seconds at most. net/http does not wait for connections that were upgraded.
// Errors: ctx's.
func (h *Handler) Wait(ctx context.Context) error {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	return waitFor(ctx, &h.open)
}

// Close writes the last frames to Redis. Call it when the conversations of this node are closed,
// which ends the recordings for clients that were away. Errors: ctx's.
func (h *Handler) Close(ctx context.Context) error {
	err := waitFor(ctx, &h.recordings)
	if h.frames != nil {
		h.frames.close()
	}
	return err
}

// waitFor waits for a group. Errors: ctx's.
func waitFor(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { // ends with the group
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ServeHTTP admits a socket and returns; the socket goes on by itself.
// Problems: 401 session-token-invalid, 403 session-modality and origin-not-allowed, 409
// session-closed, 400 invalid-request (no WebSocket), 404 route-not-found, 405 method-not-allowed,
// 429 rate-limited and 503 unavailable (too many sockets, or the server is being stopped).
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	admission, err := h.admit(w, r)
	if err != nil {
		h.deps.Problem.Write(w, r, err)
		return
	}
	tenant := admission.Session.TenantID
	if err := h.reserve(tenant); err != nil {
		h.deps.Problem.Write(w, r, err)
		return
	}
	// The signed URL is the authority, and no cookie is read; agents may name the origins of pages.
	conn, err := websocket.Accept(w, r, chosenProtocol(r), websocket.Limits{
		MaxMessageBytes: h.limits.MaxMessageBytes,
		ReadTimeout:     h.limits.ReadTimeout, WriteTimeout: h.limits.WriteTimeout,
	})
	if err != nil {
		h.release(tenant)
		h.deps.Log.WarnContext(r.Context(), "socket not opened", telemetry.KeyError, err)
		return
	}
	open := h.sockets.WithLabelValues(string(admission.Channel))
	open.Inc()
	h.serve(r, conn, sessionWire(r, conn), admission, func() {
		open.Dec()
		h.release(tenant)
	})
}

// reserve counts a socket. Errors: Unavailable unavailable when the server is being stopped or has
// as many sockets as it may, RateLimited rate-limited when the tenant has.
func (h *Handler) reserve(tenant workspaces.TenantID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopping || h.deps.Context.Err() != nil:
		return fault.New(fault.ServiceUnavailable, "This server is being stopped. Connect again.")
	case h.limits.MaxSockets > 0 && h.count >= h.limits.MaxSockets:
		return retryLater(fault.New(fault.ServiceUnavailable, "This server has all the sockets it may"+
			" (PARLANCE_SOCKET_MAX). Connect again in a while."))
	case h.isFull(tenant):
		return retryLater(fault.New(fault.RateLimitedReason, "The tenant has %d sockets on this server,"+
			" as many as it may (PARLANCE_SOCKET_MAX_PER_TENANT). Close some, or connect again in a while.",
			h.tenants[tenant]))
	}
	h.count++
	h.tenants[tenant]++
	h.open.Add(1)
	return nil
}

func retryLater(err *fault.Error) error {
	err.RetryAfter = retryAfter
	return err
}

// release gives a reserved place back.
func (h *Handler) release(tenant workspaces.TenantID) {
	h.mu.Lock()
	h.count--
	h.uncount(tenant)
	h.mu.Unlock()
	h.open.Done()
}

// isFull reports whether a tenant has as many sockets as it may. mu is held.
func (h *Handler) isFull(tenant workspaces.TenantID) bool {
	most := h.limits.MaxSocketsPerTenant
	return most > 0 && tenant != nobody && h.tenants[tenant] >= most
}

// uncount counts one socket of a tenant less. mu is held.
func (h *Handler) uncount(tenant workspaces.TenantID) {
	if h.tenants[tenant]--; h.tenants[tenant] == 0 {
		delete(h.tenants, tenant)
	}
}
