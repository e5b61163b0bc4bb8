package knowledge

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/knowledge/search"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/rerank"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with; what follows Embedders may be absent.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	Agents     *agents.Service
	Bucket     blob.Bucket
	// Embedders has at least one: the first is the one that all workspaces are to answer with.
	Embedders Embedders
	// Reranker orders candidates anew for those who ask for it; nil: there is none.
	Reranker rerank.Reranker
	// Readers read PDF files and pictures; what has none is refused at the upload.
	Readers document.Readers
	// Log gets our own failures; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// CacheBytes is how much of what searches read is kept in memory; 0 is 256 MiB.
	CacheBytes int
	// Registry gets what is measured; nil: nobody does.
	Registry prometheus.Registerer
}

// defaultCacheBytes holds the codes of 900,000 chunks, the vectors of 50,000, and texts.
const defaultCacheBytes = 256 << 20

// Service is the knowledge base. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	bucket     blob.Bucket
	embedders  Embedders
	reranker   rerank.Reranker
	readers    document.Readers
	log        *slog.Logger
	now        func() time.Time
	index      *search.Index
	texts      *cache.Cache[textKey, Found]
	metrics    metrics
}

// New makes the service.
func New(d Deps) *Service {
	cacheBytes := cmp.Or(d.CacheBytes, defaultCacheBytes)
	forTexts := cacheBytes / 8
	s := &Service{
		db: d.DB, workspaces: d.Workspaces, agents: d.Agents, bucket: d.Bucket, embedders: d.Embedders,
		reranker: d.Reranker, readers: d.Readers, log: d.Log, now: d.Now, metrics: newMetrics(d.Registry),
		index: search.New(d.DB, cacheBytes-forTexts), texts: cache.NewSized[textKey](forTexts, Found.bytes),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// moment is now as Postgres keeps it.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// source is a source without its content. Errors: NotFound.
func (s *Service) source(ctx context.Context, db bun.IDB, ref workspaces.Ref, id SourceID) (Source, error) {
	if !idgen.Valid(idgen.Source, string(id)) {
		return Source{}, fault.NoSuch("source", string(id))
	}
	return selectSource(ctx, db, ref, id, "")
}

// agent checks that the workspace has the agent. Errors: NotFound.
func (s *Service) agent(ctx context.Context, ref workspaces.Ref, id agents.ID) (agents.Agent, error) {
	if !idgen.Valid(idgen.Agent, string(id)) {
		return agents.Agent{}, fault.NoSuch("agent", string(id))
	}
	return s.agents.Get(ctx, ref, id)
}
