package turns

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"
	"go.opentelemetry.io/otel/trace"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns/approvals"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// ModelFunc finds the provider that answers for an agent: the configured one with its fallbacks, or
// the extractive responder. Errors: fault upstream-failed when the named provider is not
// configured.
type ModelFunc func(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error)

// Deps is what a Service works with. DB, Sessions, Store, Models and Seal are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	Models   ModelFunc
	// Store keeps the turns.
	Store Store
	// Database gives other work access to Postgres; nil: work, and so each turn, fails while Postgres
	// is away.
	Database Database
	// Installed replaces Models for a workspace without model keys of its own; nil: Models is used for
	// all.
	Installed ModelFunc
	// Tools finds and runs an agent's tools; nil: none. App gives it SystemTools.
	Tools *tools.Service
	// Retriever finds passages; nil: none.
	Retriever Retriever
	// Memory has the users' memories; nil: there are none.
	Memory *memory.Service
	// Embedder compares sentences with the examples of guards; nil: nothing does.
	Embedder embedding.Embedder
	// Gate shares the calls of models between tenants; nil: calls are not limited.
	Gate *fair.Gate
	// Seal opens secret variables.
	Seal *seal.Keyring
	// FenceKey makes the marks around text from outside: secret, and the same on all servers.
	FenceKey []byte
	// Usage says whether the tenant's quotas allow another turn; nil: they do.
	Usage *usage.Service
	// Prices are what models cost; nil: costs are not computed. Priced says which models have a price.
	Prices *usage.Prices
	Priced agents.PriceFunc
	// Tracer makes the spans of turns over sockets; nil: there are none. A turn of a request is part
	// of the request's trace.
	Tracer trace.TracerProvider
	// Registry gets the metrics; nil: there are none.
	Registry prometheus.Registerer
	// Log gets failures that have no caller to be returned to; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// ApprovalTimeout is how long a call waits for the client's approval; 0 is 60 s.
	ApprovalTimeout time.Duration
}

// maxKnownWorkspaces bounds Service.ownKeys.
const maxKnownWorkspaces = 100_000

// Service takes turns. Safe for concurrent use.
type Service struct {
	Database

	db        *postgres.DB
	store     Store
	sessions  *sessions.Service
	health    *postgres.Health
	models    ModelFunc
	installed ModelFunc
	tools     *tools.Service
	retriever Retriever
	memory    *memory.Service
	gate      *fair.Gate
	seal      *seal.Keyring
	fenceKey  []byte
	usage     *usage.Service
	prices    *usage.Prices
	priced    agents.PriceFunc
	log       *slog.Logger
	now       func() time.Time
	metrics   metrics

	// Approvals are the requests for approval of calls.
	Approvals       *approvals.Service
	approvalTimeout time.Duration
	// zones are the compiled no-go zones of agents.
	zones *agents.ZoneCache
	// ownKeys has whether a workspace had model keys of its own when its last turn began here.
	ownKeys *cache.Cache[workspaces.Ref, bool]

	// node names this process among those that hold sockets.
	node string
	// life ends when the node stops; all turns here run under it.
	life    context.Context //nolint:containedctx // the life of the node's goroutines, which no caller's context spans
	kill    context.CancelCauseFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	closing bool
	// summaries has, for each session whose summary is being written or has failed, until when no
	// other is tried.
	summaries map[sessions.ID]time.Time
	running   map[sessions.TurnID]*Lease
}

// New makes the service.
func New(d Deps) *Service {
	life, kill := context.WithCancelCause(telemetry.WithTracer(context.Background(), d.Tracer))
	s := &Service{
		db:        d.DB,
		sessions:  d.Sessions,
		health:    d.Sessions.Health(),
		store:     d.Store,
		Database:  d.Database,
		models:    d.Models,
		installed: d.Installed,
		tools:     d.Tools,
		retriever: d.Retriever,
		memory:    d.Memory,
		gate:      d.Gate,
		seal:      d.Seal,
		fenceKey:  d.FenceKey,
		usage:     d.Usage,
		prices:    d.Prices, priced: d.Priced,
		log:       d.Log,
		now:       d.Now,
		metrics:   newMetrics(d.Registry),
		Approvals: approvals.New(d.DB, d.Sessions), approvalTimeout: cmp.Or(d.ApprovalTimeout, ApprovalTimeout),
		zones:     agents.NewZoneCache(agents.Comparer{Embedder: d.Embedder}),
		ownKeys:   cache.New[workspaces.Ref, bool](maxKnownWorkspaces),
		node:      "node_" + rand.Text(),
		life:      life,
		kill:      kill,
		summaries: map[sessions.ID]time.Time{},
		running:   map[sessions.TurnID]*Lease{},
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
	d.Sessions.OnGreet(s.greeting)
	return s
}

// Node names this process among those that hold sockets.
func (s *Service) Node() string { return s.node }

// Life ends with ErrNodeStopping when the node stops; all turns here run under it.
func (s *Service) Life() context.Context { return s.life }

// Go runs work that Wait waits for.
func (s *Service) Go(work func()) { s.workers.Go(work) }

// TryGo is Go, unless the node is being stopped: then it returns false.
func (s *Service) TryGo(work func()) bool {
	leave, ok := s.TryEnter()
	if !ok {
		return false
	}
	go func() { defer leave(); work() }()
	return true
}

// TryEnter has Wait wait until leave is called, unless the node is being stopped: then ok is false.
func (s *Service) TryEnter() (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, false
	}
	s.workers.Add(1)
	return s.workers.Done, true
}

// StopTaking has TryGo and TryEnter refuse work: this node is being stopped.
func (s *Service) StopTaking() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
}

// Wait waits for all work of Go and TryGo.
func (s *Service) Wait() { s.workers.Wait() }

// Kill ends Life, which cancels all turns here.
func (s *Service) Kill() { s.kill(ErrNodeStopping) }

// Summarising reports whether a summary of the session is being written on this node, or failed
// within the minute.
func (s *Service) Summarising(id sessions.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.summaries[id]
	return is
}

// keepsOffline reports whether turns go on while Postgres is away.
func (s *Service) keepsOffline() bool {
	_, none := s.Database.(directly)
	return !none
}

// NodeLost reports whether a turn whose lease is over may be taken from its node: Postgres was
// healthy long enough for the node to renew it, and this machine's disk has no journal of the
// session.
func (s *Service) NodeLost(ctx context.Context, id sessions.ID) bool {
	if !s.health.Steady() {
		return false
	}
	s.TakeOver(ctx)
	return !s.Holds(id)
}

// Watch probes Postgres until ctx ends.
func (s *Service) Watch(ctx context.Context) { s.health.Watch(ctx, s.Check) }

// NewSessionCache makes a cache; nil when turns fail while Postgres is away.
func (s *Service) NewSessionCache(session sessions.Session) *SessionCache {
	if !s.keepsOffline() {
		return nil
	}
	return &SessionCache{session: session}
}

// Accept writes down what a socket said or answered, in the unanswered turn or a new one. Errors:
// those of Store.Accept.
func (s *Service) Accept(ctx context.Context, p AcceptParams) (sessions.Turn, error) {
	return s.store.Accept(ctx, p)
}

// AcceptUnanswered is Accept for what was said to a node that the conversation has left. Nobody
// asks for an answer to that, so the turn is closed: the model sees it in the next answer. It may
// be called again with the same p.New.
func (s *Service) AcceptUnanswered(ctx context.Context, p AcceptParams) error {
	accepted, err := s.Accept(ctx, p)
	if err != nil {
		return err
	}
	return s.Abandon(ctx, p.Session, accepted.ID)
}

// Abandon closes an accepted turn whose answer will not begin, so that the model sees what was said
// in it. A turn that is being answered stays as it is.
func (s *Service) Abandon(ctx context.Context, session sessions.Session, id sessions.TurnID) error {
	now := s.sessions.Now()
	return s.ReachSession(ctx, session.ID, func(ctx context.Context) error {
		return s.sessions.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			turn, err := sessions.FindTurn(ctx, tx, *row, id)
			if err != nil || row.RunningTurnID == id {
				return err
			}
			return sessions.AbandonTurnTx(ctx, tx, row, &turn, now)
		})
	})
}

// addResults replaces "unknown" results of calls, and stores the variables that they assigned.
func (s *Service) addResults(ctx context.Context, p ResultParams) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	if err := s.store.AddResults(ctx, p); err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		s.log.ErrorContext(ctx, "late result of a call not recorded", "session_id", p.Session.ID, "turn_id", p.Turn, "error", err)
	}
}
