package realtime

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// Prefix is where the handler belongs in a mux.
const Prefix = "/v1/realtime/"

// Defaults of Deps. Source: decisions, Sessions (the ping); the others are our own.
const (
	defaultPingEvery    = 20 * time.Second
	defaultPongWithin   = 10 * time.Second
	defaultWriteWithin  = 10 * time.Second
	defaultMaxFrame     = 1 << 20
	defaultMaxUnwritten = 4 << 20
)

// Deps is what a Handler works with; Sessions and Log are required.
type Deps struct {
	Sessions *conversation.Service
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
	// Limits are for tests; zero fields are the defaults.
	Limits Limits
}

// Limits bound a socket.
type Limits struct {
	// PingEvery is 20 s; a pong must come within PongWithin, 10 s.
	PingEvery  time.Duration
	PongWithin time.Duration
	// WriteWithin is how long one frame may take to be written, 10 s.
	WriteWithin time.Duration
	// MaxFrameBytes is 1 MiB.
	MaxFrameBytes int64
	// MaxUnwrittenBytes is what may wait to be written, 4 MiB.
	MaxUnwrittenBytes int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		PingEvery: or(l.PingEvery, defaultPingEvery), PongWithin: or(l.PongWithin, defaultPongWithin),
		WriteWithin: or(l.WriteWithin, defaultWriteWithin), MaxFrameBytes: or(l.MaxFrameBytes, defaultMaxFrame),
		MaxUnwrittenBytes: or(l.MaxUnwrittenBytes, defaultMaxUnwritten),
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
	open     sync.WaitGroup
	sockets  *prometheus.GaugeVec
	// behind counts the recorders whose sockets are lost.
	behind sync.WaitGroup
	relay  *relay // nil without Redis
}

// New makes the handler; it belongs at Prefix.
func New(d Deps) *Handler {
	if d.Context == nil {
		d.Context = context.Background()
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	h := &Handler{deps: d, limits: d.Limits.withDefaults(), sockets: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parlance_sockets_open", Help: "WebSockets of sessions that are open here; channel is voice or chat.",
	}, []string{"channel"})}
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

// ServeHTTP admits a socket and returns when it is gone.
// Problems: 401 session-token-invalid, 403 session-modality, 409 session-closed, 400
// invalid-request (no WebSocket), 404 route-not-found, 405 method-not-allowed, 501
// not-implemented (sub-protocol convai), 503 unavailable (the server is being stopped).
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	admission, err := h.admit(w, r)
	if err != nil {
		h.deps.Problem.Write(w, r, err)
		return
	}
	if !h.enter() {
		h.deps.Problem.Write(w, r, errStopping())
		return
	}
	defer h.open.Done()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: selected(r),
		// Any origin: the signed URL is the authority, no cookie is read, and browsers of any
		// customer's site connect.
		InsecureSkipVerify: true,
	})
	if err != nil {
		return // Accept has answered
	}
	open := h.sockets.WithLabelValues(string(admission.Channel))
	open.Inc()
	defer open.Dec()
	h.serve(r, conn, admission)
}

// enter counts a socket; false once the server is being stopped.
func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining || h.deps.Context.Err() != nil {
		return false
	}
	h.open.Add(1)
	return true
}

func errStopping() error {
	return fault.New(fault.ServiceUnavailable, "This server is being stopped. Connect again.")
}

// admit does everything before the upgrade. The token is looked at before the upgrade's headers,
// so that a plain GET with a bad token says what is wrong with it.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (conversation.Admission, error) {
	channel, id, ok := route(r.URL.Path)
	if !ok {
		return conversation.Admission{}, fault.New(fault.RouteNotFound, "No WebSocket at %s. Use ws_url or chat_url of a session.", r.URL.Path)
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		return conversation.Admission{}, fault.New(fault.MethodNotAllowedReason, "This is a WebSocket URL; it takes GET with an upgrade only.")
	}
	token, upgrade := tokenOf(r), isUpgrade(r)
	if token == "" && !upgrade {
		return conversation.Admission{}, errNoUpgrade(w)
	}
	admission, err := h.deps.Sessions.Admit(r.Context(), conversation.AdmitParams{SessionID: id, Token: token, Channel: channel})
	if err != nil {
		return conversation.Admission{}, err
	}
	if !upgrade {
		return conversation.Admission{}, errNoUpgrade(w)
	}
	if choice := selected(r); slices.Contains(choice, protocolElevenLabs) {
		return conversation.Admission{}, fault.New(fault.NotImplemented, "The ElevenLabs dialect (sub-protocol convai) is not built yet. Offer the sub-protocol realtime, or none, and speak the OpenAI Realtime protocol.")
	}
	return admission, nil
}

func errNoUpgrade(w http.ResponseWriter) error {
	w.Header().Set("Upgrade", "websocket")
	return fault.New(fault.InvalidRequest, "This is a WebSocket URL. Open it with a WebSocket client over HTTP/1.1 (wss:// or ws://), not with a plain request.")
}

// route takes a path apart: voice or chat, a session, and perhaps /realtime.
func route(path string) (conversation.LiveChannel, conversation.ID, bool) {
	rest, ok := strings.CutPrefix(path, Prefix)
	if !ok {
		return "", "", false
	}
	rest = strings.TrimSuffix(rest, "/realtime")
	name, id, _ := strings.Cut(rest, "/")
	channel := conversation.LiveChannel(name)
	known := channel == conversation.VoiceChannel || channel == conversation.ChatChannel
	return channel, conversation.ID(id), known && id != "" && !strings.Contains(id, "/")
}

// isUpgrade says whether the request is what RFC 6455 asks for; websocket.Accept would refuse the
// others in plain text.
func isUpgrade(r *http.Request) bool {
	has := func(header, token string) bool {
		return slices.ContainsFunc(listed(r.Header.Values(header)), func(one string) bool { return strings.EqualFold(one, token) })
	}
	return r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1) && has("Connection", "upgrade") && has("Upgrade", "websocket") &&
		r.Header.Get("Sec-WebSocket-Version") == "13" && validKey(r.Header.Values("Sec-WebSocket-Key"))
}

// validKey says whether there is one key of 16 bytes.
func validKey(keys []string) bool {
	if len(keys) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0]))
	return err == nil && len(key) == 16
}
