package ingestion

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/search"
	"parlance.dev/parlance/platform/postgres"
)

// reindexBatch is how many sources without an index are looked for at once.
const reindexBatch = 100

// reindex indexes ready sources that have no index of this version: those that an earlier version
// wrote, and those whose vectors another model has made since.
func (s *Service) reindex(ctx context.Context) error {
	after := knowledge.SourceID("")
	var failed []error
	for {
		sources, err := unindexed(ctx, s.db, after)
		if err != nil || len(sources) == 0 {
			return errors.Join(append(failed, err)...)
		}
		for _, source := range sources {
			failed = append(failed, s.reindexSource(ctx, source)) // one must not keep the others
		}
		after = sources[len(sources)-1].ID
	}
}

// unindexed are sources after an id whose chunks all are of one model and have no index of this
// version.
func unindexed(ctx context.Context, db bun.IDB, after knowledge.SourceID) ([]knowledge.Source, error) {
	var sources []knowledge.Source
	query := `
		SELECT s.id,
		       s.tenant_id,
		       s.workspace_id,
		       s.name,
		       s.embedding_model
		FROM sources AS s
		WHERE s.ready_at IS NOT NULL
		  AND s.id > ?
		  AND ` + search.UnindexedSQL + `
		  AND NOT EXISTS (
			SELECT 1
			FROM chunks AS c
			WHERE c.workspace_id = s.workspace_id
			  AND c.source_id = s.id
			  AND c.model <> s.embedding_model
		  )
		ORDER BY s.id
		LIMIT ?`
	args := append(append([]any{after}, search.UnindexedArgs()...), reindexBatch)
	err := db.NewRaw(postgres.RawForAllTenants("everybody's sources are indexed", query), args...).Scan(ctx, &sources)
	if err != nil {
		return nil, fmt.Errorf("look for sources without an index: %w", err)
	}
	return sources, nil
}

// reindexSource indexes one source. It locks the row, so that nobody replaces the chunks or their
// vectors meanwhile.
func (s *Service) reindexSource(ctx context.Context, source knowledge.Source) error {
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		err := tx.NewSelect().Model(&source).Column("id").Where("s.tenant_id = ?", source.TenantID).
			Where("s.workspace_id = ?", source.WorkspaceID).Where("s.id = ?", source.ID).
			Where("s.embedding_model = ?", source.EmbeddingModel).For("NO KEY UPDATE").Scan(ctx)
		if postgres.NoRows(err) {
			return nil // deleted meanwhile, or of another model
		}
		if err != nil {
			return fmt.Errorf("lock source %s: %w", source.ID, err)
		}
		var chunks []knowledge.Chunk
		err = tx.NewSelect().Model(&chunks).Column("content", "heading", "embedding").Where("c.tenant_id = ?", source.TenantID).
			Where("c.workspace_id = ?", source.WorkspaceID).Where("c.source_id = ?", source.ID).
			Where("c.model = ?", source.EmbeddingModel).OrderExpr("c.index").Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the chunks of %s: %w", source.ID, err)
		}
		if len(chunks) == 0 {
			return nil
		}
		return storeIndex(ctx, tx, source, buildIndex(source.Name, chunks))
	})
}

// buildIndex makes the index of the chunks of a source of that name.
func buildIndex(name string, chunks []knowledge.Chunk) search.SetIndex {
	entries := make([]search.Entry, len(chunks))
	name = strings.NewReplacer("_", " ", ".", " ").Replace(strings.TrimSuffix(name, path.Ext(name)))
	for i, chunk := range chunks {
		entries[i] = search.Entry{Title: name + "\n" + chunk.Heading, Text: chunk.EmbeddedText(), Embedding: chunk.Embedding}
	}
	return search.BuildIndex(entries)
}

// storeIndex makes the index the source's, and notes the language.
func storeIndex(ctx context.Context, tx bun.IDB, source knowledge.Source, index search.SetIndex) error {
	if err := index.Store(ctx, tx, source.Ref(), string(source.ID), source.EmbeddingModel); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET language = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?`, index.Language, source.TenantID, source.WorkspaceID, source.ID)
	if err != nil {
		return fmt.Errorf("note the language: %w", err)
	}
	return nil
}
