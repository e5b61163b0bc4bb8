package search

import (
	"context"
	"fmt"

	"parlance.dev/parlance/platform/postgres"
)

const selectCodes = `
	SELECT words_number,
	       codes
	FROM source_codes
	WHERE tenant_id = $1
	  AND model = $2
	  AND version = $3
	  AND words_number = ANY ($4::bigint[])`

// readCodes returns the codes of the sets, in their order: from the cache, from Postgres, or made
// of the vectors where there are none yet. A set without vectors of the model has none.
func (s *search) readCodes(ctx context.Context) ([]*codes, error) {
	all := make([]*codes, len(s.sets))
	places := map[int64]int{}
	var missing []int64
	for i, set := range s.sets {
		if set.Number == 0 {
			continue
		}
		kept, cached := s.cache.codes.Get(modelKey{set.Number, s.question.Model})
		if !cached {
			missing, places[set.Number] = append(missing, set.Number), i
		}
		all[i] = kept
	}
	if len(missing) > 0 {
		if err := s.readStoredCodes(ctx, missing, places, all); err != nil {
			return nil, err
		}
	}
	for i := range all {
		if all[i] != nil {
			continue
		}
		var err error
		if all[i], err = s.makeCodes(ctx, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readStoredCodes reads the codes of sets by their numbers into all, at the places of these.
func (s *search) readStoredCodes(ctx context.Context, numbers []int64, places map[int64]int, all []*codes) error {
	_, err := s.db.Pipeline(ctx, postgres.Step{
		SQL: selectCodes, Args: []any{string(s.ref.TenantID), s.question.Model, codesVersion, numbers},
		Row: func(scan func(into ...any) error) error {
			var number int64
			var packed []byte
			if err := scan(&number, &packed); err != nil {
				return err
			}
			i := places[number]
			read, err := decode(packed, s.sets[i].ChunkCount, len(s.question.Vector))
			if err != nil {
				return nil //nolint:nilerr // broken codes are as good as none
			}
			all[i] = read
			s.cache.codes.Set(modelKey{number, s.question.Model}, read)
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("read codes: %w", err)
	}
	return nil
}

// makeCodes makes the codes of a set that has none stored: an earlier version of the program has
// written it, or its model is new. The worker stores them within a minute or so. A set without
// vectors of the model has none.
func (s *search) makeCodes(ctx context.Context, i int) (*codes, error) {
	set := s.sets[i]
	places := make([]int, set.ChunkCount)
	for chunk := range places {
		places[chunk] = s.first[i] + chunk
	}
	vectors, err := s.readVectors(ctx, places)
	if err != nil {
		return nil, err
	}
	missing := 0
	for chunk := range vectors {
		if vectors[chunk] == nil { // of another model
			missing++
			vectors[chunk] = make([]float32, len(s.question.Vector))
		}
	}
	if missing == len(vectors) {
		return nil, nil //nolint:nilnil // said above
	}
	made, err := decode(encode(vectors), set.ChunkCount, len(s.question.Vector))
	if err == nil && set.Number != 0 && missing == 0 {
		s.cache.codes.Set(modelKey{set.Number, s.question.Model}, made)
	}
	return made, err
}
