package search

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"parlance.dev/parlance/platform/postgres"
)

// uncachedTerm is a term of a set whose page is not cached.
type uncachedTerm struct {
	queryTerm
	set  int
	page pageKey
}

// readPostings returns the postings of the question's terms: each set's in the order of terms.
// Pages come from the cache, and those that are not there from Postgres.
func (s *search) readPostings(ctx context.Context, terms queryTerms) ([][]setPostings, error) {
	postings := make([][]setPostings, len(s.sets))
	var uncached []uncachedTerm
	for i, set := range s.sets {
		if !set.HasWords {
			continue
		}
		for _, term := range terms[set.Language] {
			key := pageKey{set.Number, pageOf(term.text, set.PageCount)}
			page, cached := s.cache.pages.Get(key)
			if !cached {
				uncached = append(uncached, uncachedTerm{term, i, key})
			} else if list := page.find(term.text); len(list) > 0 {
				postings[i] = append(postings[i], setPostings{term, list})
			}
		}
	}
	if len(uncached) == 0 {
		return postings, nil
	}
	pages, err := s.readPages(ctx, uncached)
	if err != nil {
		return nil, err
	}
	for _, term := range uncached {
		if list := pages[term.page].find(term.text); len(list) > 0 {
			postings[term.set] = append(postings[term.set], setPostings{term.queryTerm, list})
			sortTerms(postings[term.set])
		}
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

// readPages reads the pages of terms, or all pages of their sets if those fit. A page without a row
// holds nothing.
func (s *search) readPages(ctx context.Context, uncached []uncachedTerm) (map[pageKey]postingsPage, error) {
	pages, chunks := map[pageKey]postingsPage{}, map[int64]int{}
	var numbers, places []int64
	want := func(page pageKey) {
		if _, wanted := pages[page]; !wanted {
			pages[page] = postingsPage{}
			numbers, places = append(numbers, page.number), append(places, int64(page.page))
		}
	}
	whole := s.postingsFit()
	for _, term := range uncached {
		set := s.sets[term.set]
		if _, seen := chunks[set.Number]; whole && !seen {
			for page := range set.PageCount {
				want(pageKey{set.Number, page})
			}
		}
		chunks[set.Number] = set.ChunkCount
		want(term.page)
	}
	_, err := s.db.Pipeline(ctx, postgres.Step{
		SQL: selectPages, Args: []any{numbers, places, string(s.ref.TenantID)},
		Row: func(scan func(into ...any) error) error {
			var key pageKey
			var packed []byte
			if err := scan(&key.number, &key.page, &packed); err != nil {
				return err
			}
			page, err := readPage(packed, chunks[key.number])
			if err != nil {
				return fmt.Errorf("page %d of set %d: %w", key.page, key.number, err)
			}
			pages[key] = page
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read postings: %w", err)
	}
	for key, page := range pages {
		s.cache.pages.Set(key, page)
	}
	return pages, nil
}

func (s *search) postingsFit() bool {
	const posting = 8 // bytes
	terms := 0
	for _, set := range s.sets {
		terms += int(set.TermCount)
	}
	return s.fits(s.cache.pages, terms*posting)
}

const selectLengths = `
	SELECT number,
	       lengths
	FROM source_words
	WHERE tenant_id = $1
	  AND workspace_id = $2
	  AND number = ANY ($3::bigint[])`

// readLengths returns how many terms the chunks of the sets with postings have.
func (s *search) readLengths(ctx context.Context, postings [][]setPostings) ([][]int32, error) {
	lengths := make([][]int32, len(postings))
	missing := map[int64]int{}
	for i := range postings {
		if len(postings[i]) == 0 {
			continue
		}
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
