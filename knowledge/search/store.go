package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

// pagesBatch keeps one INSERT of postings at about a megabyte.
const pagesBatch = 512

// postingsRow is a row of source_postings.
type postingsRow struct {
	bun.BaseModel `bun:"table:source_postings,alias:p"`

	TenantID workspaces.TenantID `bun:"tenant_id"`
	Number   int64               `bun:"words_number"`
	Page     int                 `bun:"page"`
	Postings []byte              `bun:"postings"`
}

// Store makes the index that of the source's chunks, which model embedded, in place of any before.
// It belongs into the transaction that writes the chunks, or into one that has locked the source's
// row.
func (index SetIndex) Store(ctx context.Context, tx bun.IDB, ref workspaces.Ref, sourceID, model string) error {
	number, err := index.replaceSet(ctx, tx, ref, sourceID)
	if err != nil {
		return err
	}
	if len(index.codes) > 0 {
		_, err = tx.ExecContext(ctx, `
			INSERT INTO source_codes (tenant_id, words_number, model, version, codes)
			VALUES (?, ?, ?, ?, ?)`, ref.TenantID, number, model, codesVersion, index.codes)
		if err != nil {
			return fmt.Errorf("insert codes: %w", err)
		}
	}
	rows := make([]postingsRow, 0, len(index.pages))
	for page, packed := range index.pages {
		if len(packed) > 0 {
			rows = append(rows, postingsRow{TenantID: ref.TenantID, Number: number, Page: page, Postings: packed})
		}
	}
	for batch := range slices.Chunk(rows, pagesBatch) {
		if _, err := tx.NewInsert().Model(&batch).Exec(ctx); err != nil {
			return fmt.Errorf("insert postings: %w", err)
		}
	}
	return nil
}

// replaceSet gives the source's chunks a new number. What the old number had goes with it.
func (index SetIndex) replaceSet(ctx context.Context, tx bun.IDB, ref workspaces.Ref, sourceID string) (number int64, err error) {
	_, err = tx.ExecContext(ctx, `
		DELETE FROM source_words
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND source_id = ?`, ref.TenantID, ref.ID, sourceID)
	if err != nil {
		return 0, fmt.Errorf("delete old words: %w", err)
	}
	err = tx.NewRaw(`
		INSERT INTO source_words (tenant_id, workspace_id, source_id, language, version, chunk_count,
		                          term_count, page_count, lengths, batch)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(max(batch), 0)
		FROM chunks
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND source_id = ?
		RETURNING number`, ref.TenantID, ref.ID, sourceID, index.Language, WordsVersion,
		len(index.lengths), index.termCount, len(index.pages), packLengths(index.lengths),
		ref.TenantID, ref.ID, sourceID).Scan(ctx, &number)
	if err != nil {
		return 0, fmt.Errorf("insert words: %w", err)
	}
	return number, nil
}

// UnindexedSQL is a condition on sources AS s: their chunks have no index of this version, and can
// have one. An index whose version is negative answers still, and is made anew: the source was
// renamed. It has two placeholders, for UnindexedArgs.
const UnindexedSQL = `NOT EXISTS (
		SELECT 1
		FROM source_words AS w
		JOIN source_codes AS k ON k.words_number = w.number AND k.model = s.embedding_model AND k.version >= ?
		WHERE w.workspace_id = s.workspace_id
		  AND w.source_id = s.id
		  AND w.version >= ?
	)`

// UnindexedArgs are the values of UnindexedSQL.
func UnindexedArgs() []any { return []any{codesVersion, WordsVersion} }
