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

// nearest are the chunks of sources that are most similar to the question, at most limit, nearest first;
// equal ones in the order of source and place. Few are all compared. Of many the codes are asked, of very
// many the index, and beside them what has none yet is compared.
func nearest(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, sources []visible, limit int) ([]hit, error) {
	total := 0
	for _, source := range sources {
		total += source.ChunkCount
	}
	if total <= p.exact {
		return compareAll(ctx, db, ref, p, nil, limit)
	}
	var index *vectorIndex
	if total > p.coded {
		var err error
		if index, err = indexFor(ctx, db, ref, p); err != nil {
			return nil, err
		}
	}
	var covered []visible
	var newer []SourceID
	for _, source := range sources {
		if index != nil && source.Batch <= index.UpTo || index == nil && source.Coded {
			covered = append(covered, source)
		} else {
			newer = append(newer, source.SourceID)
		}
	}
	if len(covered) == 0 {
		return compareAll(ctx, db, ref, p, nil, limit)
	}
	hits, unread, err := askAbout(ctx, db, ref, p, index, covered, limit)
	if err != nil {
		return nil, err
	}
	if newer = append(newer, unread...); len(newer) > 0 {
		others, err := compareAll(ctx, db, ref, p, newer, limit)
		if err != nil {
			return nil, err
		}
		hits = append(hits, others...)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.Index, b.Index))
	})
	return hits[:min(limit, len(hits))], nil
}

// askAbout asks the index where there is one, else the codes; unread are sources it could not ask.
func askAbout(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, index *vectorIndex, sources []visible, limit int) (hits []hit, unread []SourceID, err error) {
	if index == nil {
		return askCodes(ctx, db, ref, p, sources, limit)
	}
	if limit > p.want {
		limit = max(p.want, indexedDepth)
	}
	ids := make([]SourceID, len(sources))
	for i, source := range sources {
		ids[i] = source.SourceID
	}
	hits, err = askIndex(ctx, db, ref, p, *index, ids, limit)
	return hits, nil, err
}

// indexFor is the workspace's index of the question's model; nil: it has none yet.
func indexFor(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe) (*vectorIndex, error) {
	var index vectorIndex
	err := db.NewSelect().Model(&index).Where("v.tenant_id = ?", ref.TenantID).Where("v.workspace_id = ?", ref.ID).
		Where("v.model = ?", p.model).Scan(ctx)
	if postgres.NoRows(err) || err == nil && index.Dimension != len(p.vector.Slice()) {
		return nil, nil //nolint:nilnil // said above
	}
	if err != nil {
		return nil, fmt.Errorf("look for the index: %w", err)
	}
	return &index, nil
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
