package knowledge

import (
	"context"
	"fmt"
	"maps"
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
	if err := storeCodes(ctx, tx, source, number, index.model, index.codes); err != nil {
		return err
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

// searchWords ranks the chunks of sources by the words of the question; the candidates' sources are
// those returned.
func searchWords(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, sources []visible, limit int) ([]visible, []candidate, error) {
	sources = slices.DeleteFunc(slices.Clone(sources), func(v visible) bool { return !v.Worded })
	if len(sources) == 0 {
		return nil, nil, nil
	}
	words := wordsOf(p.Question, sources)
	postings, err := readTerms(ctx, db, ref, p.shelf, sources, words)
	if err != nil {
		return nil, nil, err
	}
	lengths, err := lengthsOf(ctx, db, ref, p.shelf, sources, postings)
	if err != nil {
		return nil, nil, err
	}
	hits, err := rankByWords(sources, lengths, words, postings, limit)
	return sources, hits, err
}

// readTerms reads the postings of the question's terms.
func readTerms(ctx context.Context, db bun.IDB, ref workspaces.Ref, shelf *sourceShelf, sources []visible, words questionWords) (termPostings, error) {
	wanted := map[shelfKey]wantedPage{}
	for i, source := range sources {
		for term := range words[source.Language] {
			key := shelfKey{number: source.Number, page: pageOf(term, source.PageCount)}
			wanted[key] = wantedPage{i, append(wanted[key].terms, term)}
		}
	}
	pages, err := readPages(ctx, db, ref, shelf, sources, wanted)
	if err != nil {
		return nil, err
	}
	postings := termPostings{}
	for key, page := range pages {
		want := wanted[key]
		for _, term := range want.terms {
			if count, packed := page.find(term); count > 0 {
				postings[term] = append(postings[term], sourcePostings{want.source, count, packed})
			}
		}
	}
	return postings, nil
}

// wantedPage is for which source and terms a page is read.
type wantedPage struct {
	source int
	terms  []string
}

// readPages takes pages of postings from the shelf, and those that are not there from the database.
func readPages(ctx context.Context, db bun.IDB, ref workspaces.Ref, shelf *sourceShelf, sources []visible, wanted map[shelfKey]wantedPage) (map[shelfKey]wordPage, error) {
	pages := make(map[shelfKey]wordPage, len(wanted))
	var numbers []int64
	var missing []int
	for key := range wanted {
		if page, there := shelf.Get(key); there {
			pages[key], _ = page.(wordPage)
			continue
		}
		numbers, missing = append(numbers, key.number), append(missing, key.page)
	}
	if len(missing) == 0 {
		return pages, nil
	}
	var rows []postingsPage
	err := db.NewRaw(`
		SELECT p.words_number,
		       p.page,
		       p.postings
		FROM unnest(?::bigint[], ?::integer[]) AS wanted (number, page)
		JOIN source_postings AS p ON p.words_number = wanted.number AND p.page = wanted.page
		WHERE p.tenant_id = ?`, pgdialect.Array(numbers), pgdialect.Array(missing), ref.TenantID).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read postings: %w", err)
	}
	for _, row := range rows {
		key := shelfKey{number: row.Number, page: row.Page}
		source := sources[wanted[key].source]
		if pages[key], err = readPage(row.Postings, source.ChunkCount); err != nil {
			return nil, fmt.Errorf("postings of %s: %w", source.SourceID, err)
		}
	}
	for i, number := range numbers { // also those without a row: there is nothing on them
		key := shelfKey{number: number, page: missing[i]}
		page := pages[key]
		shelf.Put(key, page, len(page.packed)+4*len(page.at))
	}
	return pages, nil
}

// lengthsOf are the lengths of the chunks of sources that have postings.
func lengthsOf(ctx context.Context, db bun.IDB, ref workspaces.Ref, shelf *sourceShelf, sources []visible, postings termPostings) ([][]int32, error) {
	lengths := make([][]int32, len(sources))
	missing := map[int64]int{}
	for _, lists := range postings {
		for _, list := range lists {
			if lengths[list.source] != nil {
				continue
			}
			number := sources[list.source].Number
			if kept, there := shelf.Get(shelfKey{number: number, page: lengthsPage}); there {
				lengths[list.source], _ = kept.([]int32)
			} else {
				missing[number] = list.source
			}
		}
	}
	if len(missing) == 0 {
		return lengths, nil
	}
	var rows []struct {
		Number  int64  `bun:"number"`
		Lengths []byte `bun:"lengths"`
	}
	err := db.NewRaw(`
		SELECT number,
		       lengths
		FROM source_words
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND number = ANY (?::bigint[])`, ref.TenantID, ref.ID, pgdialect.Array(slices.Collect(maps.Keys(missing)))).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read how long chunks are: %w", err)
	}
	for _, row := range rows {
		i := missing[row.Number]
		if lengths[i], err = readLengths(row.Lengths, sources[i].ChunkCount); err != nil {
			return nil, fmt.Errorf("lengths of %s: %w", sources[i].SourceID, err)
		}
		shelf.Put(shelfKey{number: row.Number, page: lengthsPage}, lengths[i], 4*len(lengths[i]))
	}
	return lengths, nil
}
