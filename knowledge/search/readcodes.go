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

// readCodes returns the codes of the sets, in their order, from the cache or from Postgres. A set
// that an earlier version wrote, or whose model is new, has none until a worker has made them.
func (s *search) readCodes(ctx context.Context) ([]*codes, error) {
	all := make([]*codes, len(s.sets))
	places := map[int64]int{}
	var missing []int64
	for i, set := range s.sets {
		if set.Number == 0 {
			continue
		}
		found, cached := s.cache.codes.Get(modelKey{set.Number, s.question.Model})
		if !cached {
			missing, places[set.Number] = append(missing, set.Number), i
		}
		all[i] = found
	}
	if len(missing) == 0 {
		return all, nil
	}
	_, err := s.db.Pipeline(ctx, postgres.Step{
		SQL: selectCodes, Args: []any{string(s.ref.TenantID), s.question.Model, codesVersion, missing},
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
		return nil, fmt.Errorf("read codes: %w", err)
	}
	return all, nil
}
