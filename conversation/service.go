package conversation

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"
	"go.opentelemetry.io/otel/trace"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/crew"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// ModelFunc finds what answers for an agent: the configured provider with its fallbacks, or the
// extractive responder. Errors: fault upstream-failed when the named provider is not configured.
type ModelFunc func(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error)

// Deps is what a Service works with. DB, Agents, Workspaces, Models, Seal and PublicURL are required.
type Deps struct {
	DB         *postgres.DB
	Agents     *agents.Service
	Workspaces *workspaces.Service
	Models     ModelFunc
	// HasKeys asks whether the workspace has model keys of its own, beside what a turn asks the database anyhow.
	// When it has none, Installed takes the place of Models. Both or neither may be nil.
	HasKeys   func(ref workspaces.Ref, has *bool) postgres.Step
	Installed ModelFunc
	// Tools finds and runs an agent's tools; nil: none. App gives it SystemTools.
	Tools *tools.Service
	// Retriever finds passages; nil: none.
	Retriever Retriever
	// Memory is what is remembered of users; nil: nothing.
	Memory *memory.Service
	// Gate shares the calls of models between tenants; nil: nobody waits.
	Gate *fair.Gate
	// Seal keeps secret variables and the keys that tokens are signed with.
	Seal *seal.Keyring
	// WAL keeps turns on disk while Postgres is away; nil: they fail then.
	WAL *wal.Log
	// Prices are what models cost; nil: nobody knows.
	Prices *Prices
	// PublicURL is where clients reach us (http or https, with a path prefix perhaps), without /v1.
	PublicURL string
	// Tracer makes spans of what sockets ask for and of sweeps; nil: nobody does. What a request
	// asks for has its request's.
	Tracer trace.TracerProvider
	// Registry gets what is measured; nil: nobody does.
	Registry prometheus.Registerer
	// Log gets what goes wrong without anybody to tell; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Random makes signing keys; nil is crypto/rand.
	Random io.Reader
	// FollowGrace is how long a streamed turn goes on while nobody listens; 0 is FollowGrace (30 s).
	FollowGrace time.Duration
	// TenantTurns bounds the turns without a socket that run or wait for one tenant on this node; 0 is 256.
	TenantTurns int
	// ApprovalTimeout is how long a call waits for the client's approval; 0 is 60 s.
	ApprovalTimeout time.Duration
}

// Service is sessions and their turns. Safe for concurrent use. Run keeps it in touch with the
// other nodes; Close ends what is live here.
type Service struct {
	db         *postgres.DB
	agents     *agents.Service
	workspaces *workspaces.Service
	models     ModelFunc
	hasKeys    func(ref workspaces.Ref, has *bool) postgres.Step
	installed  ModelFunc
	tools      *tools.Service
	retriever  Retriever
	memory     *memory.Service
	gate       *fair.Gate
	seal       *seal.Keyring
	publicURL  string
	prices     *Prices
	log        *slog.Logger
	now        func() time.Time
	keys       *keyCache
	metrics    metrics
	ends       endCounter
	spill      *spill
	// health says whether expired leases prove anything.
	health *postgres.Health

	approvalTimeout time.Duration
	followGrace     time.Duration
	tenantTurns     int

	// node names this process among those that hold sockets.
	node string
	// live ends when Close has waited long enough; what runs here runs under it.
	live    context.Context //nolint:containedctx // the life of the node's goroutines, which no caller's context spans
	kill    context.CancelFunc
	workers sync.WaitGroup
	// crew takes the engines' messages, and the answers.
	crew crew.Crew

	mu      sync.Mutex
	closing bool
	engines roster
	// summaries are the sessions whose summary is being written, or is not tried, until when.
	summaries map[ID]time.Time
	running   map[TurnID]*lease
	// broadcasts are the streamed turns that run here.
	broadcasts map[TurnID]*broadcast
	// followers are woken when a turn's row has changed.
	followers map[TurnID]map[chan struct{}]bool
	queues    turnQueues
}

// New makes the service.
func New(d Deps) *Service {
	live, kill := context.WithCancel(telemetry.WithTracer(context.Background(), d.Tracer))
	s := &Service{
		db: d.DB, agents: d.Agents, workspaces: d.Workspaces, models: d.Models, hasKeys: d.HasKeys, installed: d.Installed, tools: d.Tools, retriever: d.Retriever, memory: d.Memory, gate: d.Gate,
		health: postgres.NewHealth(d.DB, nil), seal: d.Seal, publicURL: strings.TrimRight(d.PublicURL, "/"), prices: d.Prices, log: d.Log, now: d.Now,
		node: "node_" + rand.Text(), live: live, kill: kill,
		summaries: map[ID]time.Time{}, engines: newRoster(), running: map[TurnID]*lease{}, broadcasts: map[TurnID]*broadcast{}, followers: map[TurnID]map[chan struct{}]bool{}, queues: newTurnQueues(), metrics: newMetrics(d.Registry), ends: newEndCounter(d.Registry),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.approvalTimeout = d.ApprovalTimeout; s.approvalTimeout == 0 {
		s.approvalTimeout = approvalTimeout
	}
	s.followGrace = cmp.Or(d.FollowGrace, FollowGrace)
	s.tenantTurns = cmp.Or(d.TenantTurns, defaultTenantTurns)
	s.spill = newSpill(s, d.WAL)
	s.spill.measure(d.Registry)
	if d.Random == nil {
		d.Random = rand.Reader
	}
	s.keys = &keyCache{db: d.DB, seal: d.Seal, random: d.Random}
	return s
}

// do has the crew do work that Close waits for.
func (s *Service) do(work func()) {
	s.workers.Add(1)
	s.crew.Go(func() {
		defer s.workers.Done()
		work()
	})
}

// moment is now as Postgres keeps it.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Duration is how long the session has lasted, until now while it is open.
func (s *Service) Duration(session Session) time.Duration { return session.Duration(s.moment()) }

// Get is a session of the caller's tenant. Errors: NotFound, Unauthenticated
// session-token-invalid when the caller has the token of another.
func (s *Service) Get(ctx context.Context, p workspaces.Principal, id ID) (Session, error) {
	if p.SessionID != "" && p.SessionID != string(id) {
		return Session{}, errToken(errors.New("another session's token"))
	}
	if !idgen.Valid(idgen.Session, string(id)) {
		return Session{}, fault.NoSuch("session", string(id))
	}
	session, err := selectSession(ctx, s.db, p.TenantID, id, "")
	if err != nil {
		return Session{}, err
	}
	if !p.MayTouch(session.Ref()) {
		return Session{}, fault.NoSuch("session", string(id))
	}
	note(ctx, session)
	return session, nil
}

// note puts the session on the log lines of the work that ctx belongs to.
func note(ctx context.Context, session Session) {
	telemetry.Note(ctx, telemetry.KeyTenantID, string(session.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(session.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySessionID, string(session.ID))
}

// ListParams narrows a list of sessions; empty fields do not.
type ListParams struct {
	Page        postgres.PageParams
	WorkspaceID workspaces.ID
	AgentID     agents.ID
	UserID      string
	Status      Status
	Modality    Modality
	EndReason   string
	// CreatedAfter is the earliest moment, CreatedBefore the first that is too late; zero: any.
	CreatedAfter  time.Time
	CreatedBefore time.Time
}

// moment is a time as a filter of a list; empty for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// List lists the sessions the caller may see, newest first. Another tenant's workspace is an
// empty list. Errors: Invalid invalid-request (page_size, page_token).
func (s *Service) List(ctx context.Context, p workspaces.Principal, params ListParams) ([]Session, string, error) {
	params.Page.Order = postgres.NewestFirst
	params.Page.Filters = []string{
		string(p.TenantID), string(p.WorkspaceID), string(params.WorkspaceID), string(params.AgentID), params.UserID, string(params.Status),
		string(params.Modality), params.EndReason, moment(params.CreatedAfter), moment(params.CreatedBefore),
	}
	page, err := postgres.NewPage(params.Page)
	if err != nil {
		return nil, "", err
	}
	sessions, err := selectSessions(ctx, s.db, p, params, page)
	if err != nil {
		return nil, "", fmt.Errorf("listing sessions: %w", err)
	}
	sessions, next := postgres.Cut(page, sessions, func(one Session) postgres.Key {
		return postgres.Key{CreatedAt: one.CreatedAt, ID: string(one.ID)}
	})
	return sessions, next, nil
}

// Transcript lists a session's turns in order. Errors: NotFound, Invalid invalid-request.
func (s *Service) Transcript(ctx context.Context, p workspaces.Principal, id ID, params postgres.PageParams) ([]Turn, string, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return nil, "", err
	}
	params.Order = postgres.OldestFirst
	params.Filters = []string{string(session.TenantID), string(id)}
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	turns, err := selectTurnPage(ctx, s.db, session, page)
	if err != nil {
		return nil, "", err
	}
	turns, next := postgres.Cut(page, turns, turnKey)
	noteItems(turns, session.ItemEdits)
	return turns, next, nil
}

// turnKey is a turn's place in its transcript: turns are ordered by index, which Key has no
// word for, so it goes as a time of that many microseconds.
func turnKey(t Turn) postgres.Key {
	return postgres.Key{CreatedAt: time.UnixMicro(int64(t.Index)).UTC(), ID: string(t.ID)}
}

// locked runs fn on the session's row, which nobody else writes until the transaction ends.
// fn may run twice. Errors: NotFound, fn's.
func (s *Service) locked(ctx context.Context, tenant workspaces.TenantID, id ID, fn func(ctx context.Context, tx bun.Tx, session *Session) error) error {
	var before, after Session
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		session, err := selectSession(ctx, tx, tenant, id, "UPDATE")
		if err != nil {
			return err
		}
		before = session
		err = fn(ctx, tx, &session)
		after = session
		return err
	})
	if err == nil && after.Closed() && !before.Closed() {
		s.ends.closed(after)
	}
	return err
}
