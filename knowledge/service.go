package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/events"
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
	return selectSource(ctx, db, ref, id)
}

// agent checks that the workspace has the agent. Errors: NotFound.
func (s *Service) agent(ctx context.Context, ref workspaces.Ref, id agents.ID) error {
	if !idgen.Valid(idgen.Agent, string(id)) {
		return fault.NoSuch("agent", string(id))
	}
	_, err := s.agents.Get(ctx, ref, id)
	return err
}

// Get returns a source, with its content when it is inline. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id SourceID) (Source, error) {
	source, err := s.source(ctx, s.db, ref, id)
	if err != nil || source.Kind != KindInline {
		return source, err
	}
	r, err := s.bucket.Get(ctx, source.BlobKey)
	if err != nil {
		return Source{}, fmt.Errorf("open the text of %s: %w", id, err)
	}
	defer func() { _ = r.Close() }() // only read
	text, err := io.ReadAll(r)
	if err != nil {
		return Source{}, fmt.Errorf("read the text of %s: %w", id, err)
	}
	source.Content = string(text)
	return source, nil
}

// Open returns a source and its stored bytes, which the caller closes. Errors: NotFound.
func (s *Service) Open(ctx context.Context, ref workspaces.Ref, id SourceID) (Source, io.ReadCloser, error) {
	source, err := s.source(ctx, s.db, ref, id)
	if err != nil {
		return Source{}, nil, err
	}
	r, err := s.bucket.Get(ctx, source.BlobKey)
	if err != nil {
		return Source{}, nil, fmt.Errorf("open the bytes of %s: %w", id, err)
	}
	return source, r, nil
}

// ListParams is a page of the workspace's sources.
type ListParams struct {
	postgres.PageParams
	// Status narrows the list; empty: all.
	Status Status
}

// List lists the workspace's sources, newest first, without content.
// Errors: Invalid invalid-request (page_size, page_token).
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Source, string, error) {
	p.Order = postgres.NewestFirst
	p.Filters = []string{string(ref.TenantID), string(ref.ID), string(p.Status)}
	page, err := postgres.NewPage(p.PageParams)
	if err != nil {
		return nil, "", err
	}
	return listSources(ctx, s.db, ref, p.Status, page)
}

// ListChunks lists a source's chunks in their order.
// Errors: NotFound, Invalid invalid-request (page_size, page_token).
func (s *Service) ListChunks(ctx context.Context, ref workspaces.Ref, id SourceID, p postgres.PageParams) ([]Chunk, string, error) {
	if _, err := s.source(ctx, s.db, ref, id); err != nil {
		return nil, "", err
	}
	p.Order = postgres.OldestFirst
	p.Filters = []string{string(ref.TenantID), string(ref.ID), string(id)}
	page, err := postgres.NewPage(p)
	if err != nil {
		return nil, "", err
	}
	return listChunks(ctx, s.db, ref, id, page)
}

// Reprocess ingests the stored bytes again. A source that already waits or is being worked on
// is returned as it is. Errors: NotFound, Invalid invalid-request (forceOCR on anything but a PDF).
func (s *Service) Reprocess(ctx context.Context, ref workspaces.Ref, id SourceID, forceOCR bool) (Source, error) {
	now := s.moment()
	var source Source
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if source, err = s.source(ctx, tx, ref, id); err != nil {
			return err
		}
		if err := checkForceOCR(forceOCR, source.MediaType); err != nil {
			return err
		}
		queued, err := requeueFinished(ctx, tx, ref, id, forceOCR, now)
		if err != nil || !queued {
			return err
		}
		if source, err = selectSource(ctx, tx, ref, id); err != nil {
			return err
		}
		return appendQueued(ctx, tx, source, now)
	})
	return source, err
}

// appendQueued tells the worker that a source waits.
func appendQueued(ctx context.Context, tx bun.IDB, source Source, now time.Time) error {
	_, err := events.Append(ctx, tx, events.Event{
		TenantID: string(source.TenantID), WorkspaceID: string(source.WorkspaceID),
		Type: events.SourceQueued, Subject: string(source.ID), CreatedAt: now,
	})
	return err
}

// Delete removes a source with its chunks and attachments, gives its bytes back to the plan and
// leaves its blob to the worker; repeating it is not an error. Errors: NotFound.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id SourceID) error {
	if !idgen.Valid(idgen.Source, string(id)) {
		return fault.NoSuch("source", string(id))
	}
	now := s.moment()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		source, deleted, err := deleteSource(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if !deleted {
			return s.workspaces.Gone(ctx, tx, ref.TenantID, "source", string(id))
		}
		if err := giveBack(ctx, tx, ref, source.SizeBytes); err != nil {
			return err
		}
		if err := s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now); err != nil {
			return err
		}
		_, err = events.Append(ctx, tx, events.Event{
			TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID),
			Type: events.BlobOrphaned, Subject: source.BlobKey, CreatedAt: now,
		})
		return err
	})
}

// watchEvery is how often Watch looks; a person cannot tell it from at once.
const watchEvery = 300 * time.Millisecond

// Watch calls send with the source as it is, and again whenever its status, stage, progress
// or pages have changed, until it is ready or failed. Errors: NotFound, also when it is deleted
// meanwhile; send's; ctx's.
func (s *Service) Watch(ctx context.Context, ref workspaces.Ref, id SourceID, send func(Source) error) error {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	type view struct {
		status    Status
		stage     Stage
		progress  int
		pagesDone int
	}
	var last view
	for {
		source, err := s.source(ctx, s.db, ref, id)
		if err != nil {
			return err
		}
		if now := (view{source.Status, source.Stage, source.Progress, source.PagesDone}); now != last {
			last = now
			if err := send(source); err != nil {
				return err
			}
		}
		if source.Status == StatusReady || source.Status == StatusFailed {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
