package knowledge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// cleanTags puts tags in order, each once; nil stays nil. Errors: Invalid invalid-request.
func cleanTags(tags []string) ([]string, error) {
	if tags == nil {
		return nil, nil
	}
	if err := agents.CheckTags("tags", tags); err != nil {
		return nil, err
	}
	tags = slices.Clone(tags)
	slices.Sort(tags)
	return slices.Compact(tags), nil
}

// tagged are the usable sources of a workspace that pass a filter, at most one more than an attach
// takes.
func tagged(ctx context.Context, db bun.IDB, ref workspaces.Ref, f agents.TagFilter) ([]SourceID, error) {
	var ids []SourceID
	query := db.NewSelect().Model((*Source)(nil)).Column("s.id").Where("s.tenant_id = ?", ref.TenantID).
		Where("s.workspace_id = ?", ref.ID).Where("s.ready_at IS NOT NULL").
		Where("s.tags @> ?", pgdialect.Array(append([]string{}, f.AllOf...))).
		Where("NOT s.tags && ?", pgdialect.Array(append([]string{}, f.NoneOf...)))
	if len(f.AnyOf) > 0 {
		query = query.Where("s.tags && ?", pgdialect.Array(f.AnyOf))
	}
	if err := query.OrderExpr("s.created_at, s.id").Limit(maxAttach+1).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("list sources by their tags: %w", err)
	}
	return ids, nil
}

// SetChunkDisabled switches a chunk of a source off or on. What is off is neither found nor in a
// prompt. Errors: NotFound.
func (s *Service) SetChunkDisabled(
	ctx context.Context, ref workspaces.Ref, id SourceID, chunkID ChunkID, disabled bool,
) (Chunk, error) {
	var chunk Chunk
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		source, err := selectSource(ctx, tx, ref, id, forUpdate)
		if err != nil {
			return err
		}
		chunk = Chunk{}
		if !idgen.Valid(idgen.Chunk, string(chunkID)) {
			return fault.NoSuch("chunk", string(chunkID))
		}
		err = tx.NewSelect().Model(&chunk).ExcludeColumn("embedding").Where("c.tenant_id = ?", ref.TenantID).
			Where("c.workspace_id = ?", ref.ID).Where("c.source_id = ?", id).Where("c.id = ?", chunkID).Scan(ctx)
		if err := postgres.OrNoSuch(err, "chunk", string(chunkID)); err != nil {
			return err
		}
		chunk.Disabled = disabled
		off := slices.DeleteFunc(slices.Clone(source.DisabledChunks), func(place int32) bool { return place == int32(chunk.Index) })
		if disabled {
			off = append(off, int32(chunk.Index))
			slices.Sort(off)
		}
		return StoreDisabled(ctx, tx, source, off, s.moment())
	})
	return chunk, err
}

// StoreDisabled stores which chunks of a source are off, in order.
func StoreDisabled(ctx context.Context, tx bun.IDB, source Source, places []int32, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET disabled_chunks = ?, updated_at = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?`, pgdialect.Array(append([]int32{}, places...)), now, source.TenantID, source.WorkspaceID, source.ID)
	if err != nil {
		return fmt.Errorf("store which chunks are off: %w", err)
	}
	return nil
}
