package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// indexedDepth is how far an order by an index is looked at when it is fused with another.
const indexedDepth = 60

// nearest are the chunks that are most similar to the question, at most limit, nearest first; equal ones in the order of source and place. Few are all compared. Among many the
// index is asked, and what is newer than it is compared.
func nearest(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, limit int) ([]hit, error) {
	index, covered, newer, err := planNearest(ctx, db, ref, p)
	if err != nil {
		return nil, err
	}
	if len(covered) == 0 {
		return compareAll(ctx, db, ref, p, nil, limit)
	}
	if limit > p.want {
		limit = max(p.want, indexedDepth)
	}
	hits, err := askIndex(ctx, db, ref, p, index, covered, limit)
	if err != nil {
		return nil, err
	}
	if len(newer) > 0 {
		others, err := compareAll(ctx, db, ref, p, newer, limit)
		if err != nil {
			return nil, err
		}
		hits = append(hits, others...)
	}
	// The index orders by vectors of half the precision.
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.Index, b.Index))
	})
	return hits[:min(limit, len(hits))], nil
}

// planNearest decides how to search: covered are the sources to ask the index for, newer those to
// compare beside it. No covered ones: compare all.
func planNearest(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe) (index vectorIndex, covered, newer []SourceID, err error) {
	var sources []struct {
		SourceID   SourceID `bun:"source_id"`
		ChunkCount int      `bun:"chunk_count"`
		Batch      int64    `bun:"batch"`
	}
	err = db.NewRaw(`
		SELECT a.source_id,
		       s.chunk_count,
		       coalesce(w.batch, 0) AS batch
		FROM source_attachments AS a
		JOIN sources AS s ON s.workspace_id = a.workspace_id AND s.id = a.source_id
		LEFT JOIN source_words AS w ON w.workspace_id = a.workspace_id AND w.source_id = a.source_id
		WHERE a.tenant_id = ?
		  AND a.workspace_id = ?
		  AND a.agent_id = ?
		  AND a.usage_mode <> ?`, ref.TenantID, ref.ID, p.AgentID, p.without).Scan(ctx, &sources)
	if err != nil {
		return index, nil, nil, fmt.Errorf("count the agent's chunks: %w", err)
	}
	total := 0
	for _, source := range sources {
		total += source.ChunkCount
	}
	if total <= p.exact {
		return index, nil, nil, nil
	}
	err = db.NewSelect().Model(&index).Where("v.tenant_id = ?", ref.TenantID).Where("v.workspace_id = ?", ref.ID).
		Where("v.model = ?", p.model).Scan(ctx)
	if postgres.NoRows(err) || err == nil && index.Dimension != len(p.vector.Slice()) {
		return index, nil, nil, nil // not built yet
	}
	if err != nil {
		return index, nil, nil, fmt.Errorf("look for the index: %w", err)
	}
	for _, source := range sources {
		if source.Batch <= index.UpTo {
			covered = append(covered, source.SourceID)
		} else {
			newer = append(newer, source.SourceID)
		}
	}
	return index, covered, newer, nil
}

// compareAll compares the question with every chunk of the agent's sources, or of some of them.
// The filter on the model comes before the distance: vectors of another may differ in length.
func compareAll(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, some []SourceID, limit int) ([]hit, error) {
	query := db.NewSelect().TableExpr("source_attachments AS a").
		Join("JOIN chunks AS c ON c.workspace_id = a.workspace_id AND c.source_id = a.source_id").
		ColumnExpr("c.id").ColumnExpr("c.source_id").ColumnExpr("c.index").ColumnExpr("c.embedding <=> ?::vector AS distance", p.vector).
		Where("a.tenant_id = ?", ref.TenantID).Where("a.workspace_id = ?", ref.ID).Where("a.agent_id = ?", p.AgentID).
		Where("a.usage_mode <> ?", p.without).Where("c.tenant_id = a.tenant_id").Where("c.model = ?", p.model)
	if len(some) > 0 {
		query = query.Where("a.source_id = ANY (?::text[])", pgdialect.Array(some))
	}
	var hits []hit
	if err := query.OrderExpr("distance, c.source_id, c.index").Limit(int64(limit)).Scan(ctx, &hits); err != nil {
		return nil, fmt.Errorf("compare with all chunks: %w", err)
	}
	return hits, nil
}

// useIndex leaves the planner no other way than the index, and lets a filtered search go on until
// it has enough; for the rest of the transaction. Source: design, section 5.
const useIndex = `
	SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
	       set_config('hnsw.ef_search', ?, true),
	       set_config('enable_seqscan', 'off', true),
	       set_config('enable_bitmapscan', 'off', true),
	       set_config('enable_sort', 'off', true),
	       set_config('jit', 'off', true)`

// askIndex searches the index, which holds this workspace's vectors only, for chunks of sources.
func askIndex(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, index vectorIndex, sources []SourceID, limit int) ([]hit, error) {
	if _, err := db.ExecContext(ctx, useIndex, fmt.Sprint(max(searchEffort, 2*limit))); err != nil {
		return nil, fmt.Errorf("prepare for the index: %w", err)
	}
	var hits []hit
	query := fmt.Sprintf(`
		SELECT id,
		       source_id,
		       index,
		       embedding <=> ?::vector AS distance
		FROM chunks
		WHERE tenant_id = ?
		  AND %s
		  AND source_id = ANY (?::text[])
		ORDER BY embedding::halfvec(%d) <=> ?::halfvec(%d)
		LIMIT ?`, index.covers(), index.Dimension, index.Dimension)
	err := db.NewRaw(query, p.vector, ref.TenantID, pgdialect.Array(sources), p.vector, limit+limit/4+5).Scan(ctx, &hits)
	if err != nil {
		return nil, fmt.Errorf("search the index: %w", err)
	}
	return hits, nil
}
