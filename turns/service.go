package turns

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// ModelFunc finds what answers for an agent: the configured provider with its fallbacks, or the
// extractive responder. Errors: fault upstream-failed when the named provider is not configured.
type ModelFunc func(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error)

// Deps is what a Service works with. DB, Sessions, Store, Models and Seal are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	Models   ModelFunc
	// Store is where turns are kept.
	Store Store
	// Database is how other work reaches Postgres; nil: it fails while Postgres is away, and so do
	// turns.
	Database Database
	// Installed takes the place of Models for a workspace without model keys of its own; nil:
	// Models does for all.
	Installed ModelFunc
	// Tools finds and runs an agent's tools; nil: none. App gives it SystemTools.
	Tools *tools.Service
	// Retriever finds passages; nil: none.
	Retriever Retriever
	// Memory is what is remembered of users; nil: nothing.
	Memory *memory.Service
	// Gate shares the calls of models between tenants; nil: nobody waits.
	Gate *fair.Gate
	// Seal opens secret variables.
	Seal *seal.Keyring
	// Prices are what models cost; nil: nobody knows.
	Prices *sessions.Prices
	// Tracer makes spans of what sockets ask for; nil: nobody does. What a request asks for has its
	// request's.
	Tracer trace.TracerProvider
	// Registry gets what is measured; nil: nobody does.
	Registry prometheus.Registerer
	// Log gets what goes wrong without anybody to tell; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// FollowGrace is how long a streamed turn goes on while nobody listens; 0 is FollowGrace (30
	// s).
	FollowGrace time.Duration
	// TenantTurns bounds the turns without a socket that run or wait for one tenant on this node; 0
	// is 256.
	TenantTurns int
	// ApprovalTimeout is how long a call waits for the client's approval; 0 is 60 s.
	ApprovalTimeout time.Duration
}

// Service takes turns. Safe for concurrent use. Close ends those that run here.
type Service struct {
	Database

	db         *postgres.DB
	store      Store
	sessions   *sessions.Service
	health     *postgres.Health
	models     ModelFunc
	installed  ModelFunc
	tools      *tools.Service
	retriever  Retriever
	memory     *memory.Service
	gate       *fair.Gate
	seal       *seal.Keyring
	prices     *sessions.Prices
	log        *slog.Logger
	now        func() time.Time
	metrics    Metrics
	onRecorded func(sessions.Turn)

	approvalTimeout time.Duration
	followGrace     time.Duration
	tenantTurns     int

	// node names this process among those that hold sockets.
	node string
	// live ends when Close has waited long enough; what runs here runs under it.
	live    context.Context //nolint:containedctx // the life of the node's goroutines, which no caller's context spans
	kill    context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	closing bool
	// summaries are the sessions whose summary is being written, or is not tried, until when.
	summaries map[sessions.ID]time.Time
	running   map[sessions.TurnID]*Lease
	// broadcasts are the streamed turns that run here.
	broadcasts map[sessions.TurnID]*Broadcast
	// followers are woken when a turn's row has changed.
	followers map[sessions.TurnID]map[chan struct{}]bool
	queues    TurnQueues
}

// New makes the service.
func New(d Deps) *Service {
	live, kill := context.WithCancel(telemetry.WithTracer(context.Background(), d.Tracer))
	s := &Service{
		db: d.DB, sessions: d.Sessions, health: d.Sessions.Health(), store: d.Store, Database: d.Database, models: d.Models, installed: d.Installed,
		tools: d.Tools, retriever: d.Retriever, memory: d.Memory, gate: d.Gate, seal: d.Seal, prices: d.Prices, log: d.Log, now: d.Now,
		metrics: NewMetrics(d.Registry), onRecorded: func(sessions.Turn) {},
		approvalTimeout: cmp.Or(d.ApprovalTimeout, ApprovalTimeout), followGrace: cmp.Or(d.FollowGrace, FollowGrace),
		tenantTurns: cmp.Or(d.TenantTurns, DefaultTenantTurns),
		node:        "node_" + rand.Text(), live: live, kill: kill,
		summaries: map[sessions.ID]time.Time{}, running: map[sessions.TurnID]*Lease{}, broadcasts: map[sessions.TurnID]*Broadcast{},
		followers: map[sessions.TurnID]map[chan struct{}]bool{}, queues: NewTurnQueues(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.Database == nil {
		s.Database = directly{}
	}
	d.Sessions.HoldSweeps(s.Ready)
	return s
}

// OnRecorded has fn called with each turn that was taken without a socket and is recorded. Call it
// before the service is used.
func (s *Service) OnRecorded(fn func(sessions.Turn)) { s.onRecorded = fn }

// Node names this process among those that hold sockets.
func (s *Service) Node() string { return s.node }

// Life ends when Close has waited long enough; what runs on this node runs under it.
func (s *Service) Life() context.Context { return s.live }

// Go runs work that Close waits for.
func (s *Service) Go(work func()) { s.workers.Go(work) }

// StopTaking refuses new work that outlives its caller: this node is being stopped.
func (s *Service) StopTaking() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
}

// Wait waits for what runs here to end.
func (s *Service) Wait() { s.workers.Wait() }

// Kill cancels what runs here.
func (s *Service) Kill() { s.kill() }

// Queued is how many turns without a socket run or wait for a session on this node.
func (s *Service) Queued(id sessions.ID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues.sessions[id]; q != nil {
		return q.turns
	}
	return 0
}

// Summarising reports whether a summary of the session is being written on this node, or failed
// within the minute.
func (s *Service) Summarising(id sessions.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.summaries[id]
	return is
}
