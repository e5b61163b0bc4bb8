package search

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"parlance.dev/parlance/platform/postgres"
)

// wanted are the terms that a page is read for, and the set that they are looked for in.
type wanted struct {
	set   int
	terms []string
}

// readPostings returns the postings of the question's terms, by the place of their set.
func (s *search) readPostings(ctx context.Context, terms queryTerms) (map[int][]setPostings, error) {
	pages := map[pageKey]wanted{}
	for i, set := range s.sets {
		if !set.HasWords {
			continue
		}
		for term := range terms[set.Language] {
			key := pageKey{set.Number, pageOf(term, set.PageCount)}
			pages[key] = wanted{i, append(pages[key].terms, term)}
		}
	}
	read, err := s.readPages(ctx, pages)
	if err != nil {
		return nil, err
	}
	postings := map[int][]setPostings{}
	for key, want := range pages {
		for _, term := range want.terms {
			if count, packed := read[key].find(term); count > 0 {
				postings[want.set] = append(postings[want.set], setPostings{term, count, packed})
			}
		}
	}
	sortTerms(postings)
	return postings, nil
}

const selectPages = `
	SELECT p.words_number,
	       p.page,
	       p.postings
	FROM unnest($1::bigint[], $2::bigint[]) AS wanted (number, page)
	JOIN source_postings AS p ON p.words_number = wanted.number AND p.page = wanted.page::integer
	WHERE p.tenant_id = $3`

// readPages takes pages of postings from the cache, and those that are not there from Postgres.
func (s *search) readPages(ctx context.Context, wanted map[pageKey]wanted) (map[pageKey]postingsPage, error) {
	pages := make(map[pageKey]postingsPage, len(wanted))
	var numbers, missing []int64
	for key := range wanted {
		page, cached := s.cache.pages.Get(key)
		if !cached {
			numbers, missing = append(numbers, key.number), append(missing, int64(key.page))
		}
		pages[key] = page
	}
	if len(missing) == 0 {
		return pages, nil
	}
	_, err := s.db.Ask(ctx, postgres.Step{
		SQL: selectPages, Args: []any{numbers, missing, string(s.ref.TenantID)},
		Row: func(scan func(into ...any) error) error {
			var key pageKey
			var packed []byte
			if err := scan(&key.number, &key.page, &packed); err != nil {
				return err
			}
			set := s.sets[wanted[key].set]
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
	_, err := s.db.Ask(ctx, postgres.Step{
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
