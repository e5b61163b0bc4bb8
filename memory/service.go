package memory

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// embedTimeout bounds the embedding of a memory or a query. After it both go on without a vector.
// Source: field, WeKnora.
const embedTimeout = 2 * time.Second

// Deps is what a Service works with. DB, Embedder, Workspaces and Agents are required.
type Deps struct {
	DB       *postgres.DB
	Embedder embedding.Embedder
	// Workspaces records what was deleted.
	Workspaces *workspaces.Service
	// Agents says which categories the users of an agent have to confirm.
	Agents *agents.Service
	// MaxPerUser bounds the memories of a user. 0 means DefaultMaxPerUser.
	MaxPerUser int
	// Log may be nil.
	Log *slog.Logger
	// Now is the clock. nil means time.Now.
	Now func() time.Time
}

// AgreedFunc says whether the user has just said yes to a question of the agent. Package
// conversation implements it, and package app sets it.
type AgreedFunc func(ctx context.Context, ref workspaces.Ref, sessionID, turnID string) (bool, error)

// Service manages memories and users. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	embedder   embedding.Embedder
	workspaces *workspaces.Service
	agents     *agents.Service
	maxPerUser int
	log        *slog.Logger
	now        func() time.Time
	recalled   recallCache

	mu     sync.Mutex
	agreed AgreedFunc
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, embedder: d.Embedder, workspaces: d.Workspaces, agents: d.Agents, maxPerUser: d.MaxPerUser,
		log: d.Log, now: d.Now,
	}
	if s.maxPerUser == 0 {
		s.maxPerUser = DefaultMaxPerUser
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.now().UTC().Truncate(time.Microsecond) }
