package knowledge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/platform/postgres"
)

// tendBatch is how many sources without words are looked for at once.
const tendBatch = 100

// Tend keeps up what searches are quick and complete by: the words of sources that an earlier
// version of the program has made, codes, and the indexes of large workspaces' vectors. One process at a
// time does it; others return at once. Call it every minute.
func (s *Service) Tend(ctx context.Context, _ time.Time) error {
	_, err := s.db.TryLock(ctx, "knowledge tend", func(ctx context.Context) error {
		return errors.Join(s.fillWords(ctx), s.fillCodes(ctx), s.tendIndexes(ctx))
	})
	return err
}

// fillWords indexes the words of ready sources that have no index of this version.
func (s *Service) fillWords(ctx context.Context) error {
	after := SourceID("")
	var failed []error
	for {
		sources, err := wordless(ctx, s.db, after, tendBatch)
		if err != nil || len(sources) == 0 {
			return errors.Join(append(failed, err)...)
		}
		for _, source := range sources {
			failed = append(failed, s.fillWordsOf(ctx, source)) // one must not keep the others
		}
		after = sources[len(sources)-1].ID
	}
}

// wordless are sources after an id with chunks and without words of this version.
func wordless(ctx context.Context, db bun.IDB, after SourceID, limit int) ([]Source, error) {
	var sources []Source
	err := db.NewRaw(postgres.RawForAllTenants("words are indexed for everybody's sources", `
		SELECT s.id,
		       s.tenant_id,
		       s.workspace_id
		FROM sources AS s
		WHERE s.ready_at IS NOT NULL
		  AND s.id > ?
		  AND NOT EXISTS (
			SELECT 1
			FROM source_words AS w
			WHERE w.workspace_id = s.workspace_id
			  AND w.source_id = s.id
			  AND w.version >= ?
		  )
		ORDER BY s.id
		LIMIT ?`), after, lexicon.Version, limit).Scan(ctx, &sources)
	if err != nil {
		return nil, fmt.Errorf("look for sources without words: %w", err)
	}
	return sources, nil
}

// fillWordsOf indexes one source's chunks. It locks the row, so that no run replaces them meanwhile.
func (s *Service) fillWordsOf(ctx context.Context, source Source) error {
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		err := tx.NewSelect().Model(&source).Column("id").Where("s.tenant_id = ?", source.TenantID).
			Where("s.workspace_id = ?", source.WorkspaceID).Where("s.id = ?", source.ID).For("NO KEY UPDATE").Scan(ctx)
		if postgres.NoRows(err) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return fmt.Errorf("lock source %s: %w", source.ID, err)
		}
		var chunks []Chunk
		err = tx.NewSelect().Model(&chunks).Column("index", "content", "heading").Where("c.tenant_id = ?", source.TenantID).
			Where("c.workspace_id = ?", source.WorkspaceID).Where("c.source_id = ?", source.ID).OrderExpr("c.index").Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the chunks of %s: %w", source.ID, err)
		}
		if len(chunks) == 0 {
			return nil
		}
		return storeWords(ctx, tx, source, indexWords(chunks))
	})
}
