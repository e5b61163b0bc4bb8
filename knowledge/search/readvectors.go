package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/vector"
)

// A chunk of another set of the same source is not read: its batch is another.
const selectVectors = `
	SELECT wanted.place,
	       vector_send(c.embedding)
	FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS wanted (place, source_id, index, batch)
	JOIN chunks AS c ON c.source_id = wanted.source_id AND c.index = wanted.index::integer
	WHERE c.tenant_id = $5
	  AND c.workspace_id = $6
	  AND c.model = $7
	  AND (wanted.batch = 0 OR c.batch = wanted.batch)`

// readVectors returns the vectors of the chunks at places, each of length 1: from the cache, and
// those that are not there from Postgres. A chunk that is gone or has no vector of the model has
// nil.
func (s *search) readVectors(ctx context.Context, places []int) ([][]float32, error) {
	vectors := make([][]float32, len(places))
	var missing, indexes, batches []int64
	var sources []string
	for i, place := range places {
		at, chunk := s.locate(place)
		set := s.sets[at]
		if kept, cached := s.cache.vectors.Get(s.vectorKey(at, chunk)); cached && set.Number != 0 {
			vectors[i] = kept
			continue
		}
		missing, sources = append(missing, int64(i)), append(sources, set.SourceID)
		indexes, batches = append(indexes, int64(chunk)), append(batches, set.Batch)
	}
	if len(missing) == 0 {
		return vectors, nil
	}
	_, err := s.db.Pipeline(ctx, postgres.Step{
		SQL: selectVectors,
		Args: []any{
			missing, sources, indexes, batches, string(s.ref.TenantID), string(s.ref.ID), s.question.Model,
		},
		Row: func(scan func(into ...any) error) error {
			var i int
			var sent []byte
			if err := scan(&i, &sent); err != nil {
				return err
			}
			read, err := decodeVector(sent, len(s.question.Vector))
			if err != nil {
				return err
			}
			vectors[i] = read
			if at, chunk := s.locate(places[i]); s.sets[at].Number != 0 {
				s.cache.vectors.Set(s.vectorKey(at, chunk), read)
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	return vectors, nil
}

func (s *search) vectorKey(set, chunk int) vectorKey {
	return vectorKey{modelKey{s.sets[set].Number, s.question.Model}, chunk}
}

// decodeVector reads a vector as Postgres sends it: two bytes of length, two of nothing, and the
// numbers. It makes it one of length 1.
func decodeVector(sent []byte, dimension int) ([]float32, error) {
	const head, number = 4, 4
	if len(sent) != head+number*dimension {
		return nil, fmt.Errorf("a vector of %d bytes where %d numbers were expected", len(sent), dimension)
	}
	v := make([]float32, dimension)
	for i := range v {
		v[i] = math.Float32frombits(binary.BigEndian.Uint32(sent[head+number*i:]))
	}
	vector.Scale(v, float32(vector.InverseLength(v)))
	return v, nil
}
