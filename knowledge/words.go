package knowledge

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/workspaces"
)

// pagesBatch keeps one INSERT of postings at about a megabyte.
const pagesBatch = 512

// storeWords replaces the word index of a source within the transaction that replaces its chunks.
func storeWords(ctx context.Context, tx bun.IDB, source Source, index wordIndex) error {
	if _, err := tx.ExecContext(ctx, `
		DELETE FROM source_words
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND source_id = ?`, source.TenantID, source.WorkspaceID, source.ID); err != nil {
		return fmt.Errorf("delete old words: %w", err)
	}
	var number int64
	err := tx.NewRaw(`
		INSERT INTO source_words (tenant_id, workspace_id, source_id, language, version, chunk_count, term_count, page_count, lengths, batch)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(max(batch), 0)
		FROM chunks
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND source_id = ?
		RETURNING number`, source.TenantID, source.WorkspaceID, source.ID, index.language, lexicon.Version,
		len(index.lengths), index.termCount, len(index.pages), packLengths(index.lengths),
		source.TenantID, source.WorkspaceID, source.ID).Scan(ctx, &number)
	if err != nil {
		return fmt.Errorf("insert words: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET language = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?`, index.language, source.TenantID, source.WorkspaceID, source.ID); err != nil {
		return fmt.Errorf("note the language: %w", err)
	}
	rows := make([]postingsPage, 0, len(index.pages))
	for page, packed := range index.pages {
		if len(packed) > 0 {
			rows = append(rows, postingsPage{TenantID: source.TenantID, Number: number, Page: page, Postings: packed})
		}
	}
	for batch := range slices.Chunk(rows, pagesBatch) {
		if _, err := tx.NewInsert().Model(&batch).Exec(ctx); err != nil {
			return fmt.Errorf("insert postings: %w", err)
		}
	}
	return nil
}

// postingsPage is a row of source_postings.
type postingsPage struct {
	bun.BaseModel `bun:"table:source_postings,alias:p"`

	TenantID workspaces.TenantID `bun:"tenant_id"`
	Number   int64               `bun:"words_number"`
	Page     int                 `bun:"page"`
	Postings []byte              `bun:"postings"`
}

// searchWords ranks the chunks of the sources that the agent may see by the words of the question.
func searchWords(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, limit int) ([]wordSource, []wordHit, error) {
	sources, err := visibleWords(ctx, db, ref, p)
	if err != nil || len(sources) == 0 {
		return nil, nil, err
	}
	words := wordsOf(p.Question, sources)
	postings, err := readTerms(ctx, db, ref, sources, words)
	if err != nil {
		return nil, nil, err
	}
	hits, err := rankByWords(sources, words, postings, limit)
	if err != nil {
		return nil, nil, fmt.Errorf("rank by words: %w", err)
	}
	return sources, hits, nil
}

func visibleWords(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe) ([]wordSource, error) {
	var sources []wordSource
	err := db.NewRaw(`
		SELECT w.source_id,
		       w.number,
		       w.language,
		       w.chunk_count,
		       w.term_count,
		       w.page_count,
		       w.lengths
		FROM source_attachments AS a
		JOIN source_words AS w ON w.workspace_id = a.workspace_id AND w.source_id = a.source_id
		WHERE a.tenant_id = ?
		  AND a.workspace_id = ?
		  AND a.agent_id = ?
		  AND a.usage_mode <> ?
		  AND w.tenant_id = a.tenant_id
		  AND w.version = ?
		ORDER BY w.source_id`, ref.TenantID, ref.ID, p.AgentID, p.without, lexicon.Version).Scan(ctx, &sources)
	if err != nil {
		return nil, fmt.Errorf("read words of the agent's sources: %w", err)
	}
	return sources, nil
}

// readTerms reads the pages that hold the question's terms.
func readTerms(ctx context.Context, db bun.IDB, ref workspaces.Ref, sources []wordSource, words questionWords) (termPostings, error) {
	var numbers []int64
	var pages []int
	place := make(map[int64]int, len(sources))
	for i, source := range sources {
		place[source.Number] = i
		first := len(pages)
		for term := range words[source.Language] {
			if page := pageOf(term, source.PageCount); !slices.Contains(pages[first:], page) {
				numbers, pages = append(numbers, source.Number), append(pages, page)
			}
		}
	}
	postings := termPostings{}
	if len(pages) == 0 {
		return postings, nil
	}
	var rows []postingsPage
	err := db.NewRaw(`
		SELECT p.words_number,
		       p.postings
		FROM unnest(?::bigint[], ?::integer[]) AS wanted (number, page)
		JOIN source_postings AS p ON p.words_number = wanted.number AND p.page = wanted.page
		WHERE p.tenant_id = ?`, pgdialect.Array(numbers), pgdialect.Array(pages), ref.TenantID).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read postings: %w", err)
	}
	for _, row := range rows {
		i := place[row.Number]
		terms := words[sources[i].Language]
		err := readPostings(row.Postings, sources[i].ChunkCount,
			func(term []byte) bool { return terms[string(term)] > 0 },
			func(term string, list []posting) { postings[term] = append(postings[term], sourcePostings{i, list}) })
		if err != nil {
			return nil, fmt.Errorf("postings of %s: %w", sources[i].SourceID, err)
		}
	}
	return postings, nil
}
