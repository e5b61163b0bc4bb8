package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/postgres"
)

// pageUse is the set of a page, and the terms that are looked for in it.
type pageUse struct {
	set   int
	terms []string
}

// readPostings returns the postings of the question's terms, by the place of their set.
func (s *search) readPostings(ctx context.Context, terms queryTerms) (map[int][]setPostings, error) {
	pages := map[pageKey]pageUse{}
	for i, set := range s.sets {
		if !set.HasWords {
			continue
		}
		for term := range terms[set.Language] {
			key := pageKey{set.Number, pageOf(term, set.PageCount)}
			pages[key] = pageUse{i, append(pages[key].terms, term)}
		}
	}
	read, err := s.readPages(ctx, pages)
	if err != nil {
		return nil, err
	}
	postings := map[int][]setPostings{}
	for key, uses := range pages {
		for _, term := range uses.terms {
			if list := read[key][term]; len(list) > 0 {
				postings[uses.set] = append(postings[uses.set], setPostings{term, list})
			}
		}
	}
	for _, lists := range postings { // in one order, so that equal sums are equal
		slices.SortFunc(lists, func(a, b setPostings) int { return strings.Compare(a.term, b.term) })
	}
	return postings, nil
}

const selectPages = `
	SELECT p.words_number,
	       p.page,
	       p.postings
	FROM unnest($1::bigint[], $2::bigint[]) AS wanted (number, page)
	JOIN source_postings AS p ON p.words_number = wanted.number AND p.page = wanted.page::integer
	WHERE p.tenant_id = $3`

// readPages reads pages of postings, from the cache or from Postgres.
func (s *search) readPages(ctx context.Context, uses map[pageKey]pageUse) (map[pageKey]postingsPage, error) {
	pages := make(map[pageKey]postingsPage, len(uses))
	var numbers, missing []int64
	for key := range uses {
		page, cached := s.cache.pages.Get(key)
		if !cached {
			numbers, missing = append(numbers, key.number), append(missing, int64(key.page))
		}
		pages[key] = page
	}
	if len(missing) == 0 {
		return pages, nil
	}
	_, err := s.db.Pipeline(ctx, postgres.Step{
		SQL: selectPages, Args: []any{numbers, missing, string(s.ref.TenantID)},
		Row: func(scan func(into ...any) error) error {
			var key pageKey
			var packed []byte
			if err := scan(&key.number, &key.page, &packed); err != nil {
				return err
			}
			set := s.sets[uses[key].set]
			page, err := readPage(packed, set.ChunkCount)
			if err != nil {
				return fmt.Errorf("postings of %s: %w", set.SourceID, err)
			}
			pages[key] = page
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read postings: %w", err)
	}
	for i, number := range numbers { // those without a row too: they hold nothing
		key := pageKey{number, int(missing[i])}
		s.cache.pages.Set(key, pages[key])
	}
	return pages, nil
}

const selectLengths = `
	SELECT number,
	       lengths
	FROM source_words
	WHERE tenant_id = $1
	  AND workspace_id = $2
	  AND number = ANY ($3::bigint[])`

// readLengths returns how many terms the chunks of the sets with postings have, by the place of the
// set.
func (s *search) readLengths(ctx context.Context, postings map[int][]setPostings) (map[int][]int32, error) {
	lengths := make(map[int][]int32, len(postings))
	missing := map[int64]int{}
	for i := range postings {
		kept, cached := s.cache.lengths.Get(s.sets[i].Number)
		if !cached {
			missing[s.sets[i].Number] = i
		}
		lengths[i] = kept
	}
	if len(missing) == 0 {
		return lengths, nil
	}
	_, err := s.db.Pipeline(ctx, postgres.Step{
		SQL: selectLengths, Args: []any{string(s.ref.TenantID), string(s.ref.ID), slices.Collect(maps.Keys(missing))},
		Row: func(scan func(into ...any) error) error {
			var number int64
			var packed []byte
			if err := scan(&number, &packed); err != nil {
				return err
			}
			i := missing[number]
			read, err := readLengths(packed, s.sets[i].ChunkCount)
			if err != nil {
				return fmt.Errorf("lengths of %s: %w", s.sets[i].SourceID, err)
			}
			lengths[i] = read
			s.cache.lengths.Set(number, read)
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read how long chunks are: %w", err)
	}
	return lengths, nil
}
