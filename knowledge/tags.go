package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
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
		Where("s.tags @> ?", textArray(f.AllOf)).
		Where("NOT s.tags && ?", textArray(f.NoneOf))
	if len(f.AnyOf) > 0 {
		query = query.Where("s.tags && ?", textArray(f.AnyOf))
	}
	if err := query.OrderExpr("s.created_at, s.id").Limit(maxAttach+1).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("list sources by their tags: %w", err)
	}
	return ids, nil
}

// maxDisabled is how many texts of a source can be off.
const maxDisabled = 1000

// SetChunkDisabled switches a text of a source off or on, in each chunk that has it. What is off is
// neither found nor in a prompt. Errors: NotFound, Invalid invalid-request (too many are off).
func (s *Service) SetChunkDisabled(
	ctx context.Context, ref workspaces.Ref, id SourceID, chunkID ChunkID, disabled bool,
) (Chunk, error) {
	var chunk Chunk
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		source, err := selectSource(ctx, tx, ref, id, forUpdate)
		if err != nil {
			return err
		}
		var all []Chunk
		err = tx.NewSelect().Model(&all).ExcludeColumn("embedding").Where("c.tenant_id = ?", ref.TenantID).
			Where("c.workspace_id = ?", ref.ID).Where("c.source_id = ?", id).OrderExpr("c.index").Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the chunks of a source: %w", err)
		}
		at := slices.IndexFunc(all, func(c Chunk) bool { return c.ID == chunkID })
		if at < 0 {
			return fault.NoSuch("chunk", string(chunkID))
		}
		chunk = all[at]
		chunk.Disabled = disabled
		hash := hashOf(chunk.Content)
		texts := slices.DeleteFunc(slices.Clone(source.DisabledTexts), func(one string) bool { return one == hash })
		if disabled {
			texts = append(texts, hash)
		}
		if len(texts) > maxDisabled {
			return fault.InvalidField("disabled", "too_many", "%d passages of the source are off; correct it instead.", maxDisabled)
		}
		return storeDisabled(ctx, tx, source, texts, all, s.moment())
	})
	return chunk, err
}

// hashOf names a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// KeepDisabled switches those of a source's new chunks off whose text was switched off.
func KeepDisabled(ctx context.Context, tx bun.IDB, source Source, chunks []Chunk, now time.Time) error {
	if len(source.DisabledTexts) == 0 {
		return nil
	}
	return storeDisabled(ctx, tx, source, source.DisabledTexts, chunks, now)
}

// storeDisabled stores which texts of a source are off, and the places that they have.
func storeDisabled(ctx context.Context, tx bun.IDB, source Source, texts []string, chunks []Chunk, now time.Time) error {
	places := []int32{}
	for _, chunk := range chunks {
		if slices.Contains(texts, hashOf(chunk.Content)) {
			places = append(places, int32(chunk.Index))
		}
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET disabled_texts = ?, disabled_chunks = ?, updated_at = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?`, textArray(texts), pgdialect.Array(places), now, source.TenantID, source.WorkspaceID, source.ID)
	if err != nil {
		return fmt.Errorf("store which chunks are off: %w", err)
	}
	return nil
}
