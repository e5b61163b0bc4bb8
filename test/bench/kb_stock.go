package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/embedding/words"
	"parlance.dev/parlance/workspaces"
)

// stockers is how many handbooks are ingested at once.
const stockers = 2

// stock fills a place with chunks, a thousand in each source: by the code that the worker runs, but
// here, without the queue. The worker stands still meanwhile, as it would do the same.
func (w *world) stock(ctx context.Context, p place, chunks int) (ids []string, err error) {
	if err := w.worker.Stop(); err != nil {
		return nil, err
	}
	bucket, err := blob.Open("file://" + w.BlobDir())
	if err != nil {
		return nil, fmt.Errorf("opening the bucket: %w", err)
	}
	defer func() { _ = bucket.Close() }()
	ref := workspaces.Ref{ID: workspaces.ID(p.workspace)}
	if err := w.db.Pool.QueryRow(ctx, "SELECT tenant_id FROM workspaces WHERE id = $1", ref.ID).Scan(&ref.TenantID); err != nil {
		return nil, fmt.Errorf("looking up the tenant: %w", err)
	}
	plans := workspaces.Plans{"enterprise": {Name: "enterprise", KBStorageBytes: 1 << 40, KBUploadBytes: 1 << 30}}
	tenancy := workspaces.New(workspaces.Deps{DB: w.db, Plans: plans, Now: time.Now})
	embedders := knowledge.Embedders{words.New()}
	service := knowledge.New(knowledge.Deps{
		DB: w.db, Workspaces: tenancy, Agents: agents.New(agents.Deps{DB: w.db, Workspaces: tenancy, Now: time.Now}),
		Bucket: bucket, Embedders: embedders,
	})
	ingest := ingestion.New(ingestion.Deps{DB: w.db, Bucket: bucket, Embedders: embedders})
	ids = make([]string, chunks/sectionsAFile)
	group, stocking := errgroup.WithContext(ctx)
	group.SetLimit(stockers)
	for i := range ids {
		group.Go(func() error {
			text := newWriter(uint64(i)).handbook(sectionsAFile)
			source, err := service.CreateInline(stocking, ref, fmt.Sprintf("handbook-%d.md", i), string(text))
			if err != nil {
				return fmt.Errorf("storing a handbook: %w", err)
			}
			ids[i] = string(source.ID)
			return ingest.Ingest(stocking, source.ID)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if _, err := w.db.Pool.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return nil, fmt.Errorf("analysing: %w", err)
	}
	w.worker, err = w.Work()
	return ids, err
}
