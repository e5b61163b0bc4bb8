package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/vector"
)

// A chunk of another set of the same source is not read: its batch is another.
const selectVectors = `
	SELECT wanted.set,
	       c.index,
	       vector_send(c.embedding)
	FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS wanted (set, source_id, index, batch)
	JOIN chunks AS c ON c.source_id = wanted.source_id AND c.index = wanted.index::integer
	WHERE c.tenant_id = $5
	  AND c.workspace_id = $6
	  AND c.model = $7
	  AND (wanted.batch = 0 OR c.batch = wanted.batch)`

// readVectors returns the vectors of the chunks at places, each of length 1: from the cache, and
// those that are not there from Postgres. A set of which nothing is cached is read whole if all
// fit. A chunk that is gone or has no vector of the model has nil.
func (s *search) readVectors(ctx context.Context, places []int) ([][]float32, error) {
	kept, whole := make([]*setVectors, len(s.sets)), make([]bool, len(s.sets))
	var sets, indexes, batches []int64
	var sources []string
	want := func(at, chunk int) {
		sets, sources = append(sets, int64(at)), append(sources, s.sets[at].SourceID)
		indexes, batches = append(indexes, int64(chunk)), append(batches, s.sets[at].Batch)
	}
	for _, place := range places {
		at, chunk := s.locate(place)
		if kept[at] == nil {
			kept[at] = s.cachedVectors(s.sets[at])
			if whole[at] = s.sets[at].Number != 0 && kept[at].floats.Load() == 0 && s.vectorsFit(); whole[at] {
				for one := range s.sets[at].ChunkCount {
					want(at, one)
				}
			}
		}
		if !whole[at] && kept[at].vectors[chunk].Load() == nil {
			want(at, chunk)
		}
	}
	if len(sets) > 0 {
		_, err := s.db.Pipeline(ctx, postgres.Step{
			SQL:  selectVectors,
			Args: []any{sets, sources, indexes, batches, string(s.ref.TenantID), string(s.ref.ID), s.question.Model},
			Row: func(scan func(into ...any) error) error {
				var at, chunk int
				var sent []byte
				if err := scan(&at, &chunk, &sent); err != nil {
					return err
				}
				read, err := decodeVector(sent, len(s.question.Vector))
				if err == nil {
					kept[at].add(chunk, read)
				}
				return err
			},
		})
		if err != nil {
			return nil, fmt.Errorf("read vectors: %w", err)
		}
		for _, at := range slices.Compact(sets) {
			if number := s.sets[at].Number; number != 0 {
				s.cache.vectors.Set(number, kept[at]) // the cache weighs it anew
			}
		}
	}
	vectors := make([][]float32, len(places))
	for i, place := range places {
		at, chunk := s.locate(place)
		if read := kept[at].vectors[chunk].Load(); read != nil {
			vectors[i] = *read
		}
	}
	return vectors, nil
}

func (s *search) vectorsFit() bool {
	const number = 4 // bytes
	return s.fits(s.cache.vectors, s.first[len(s.sets)]*len(s.question.Vector)*number)
}

// cachedVectors are those of a set that searches have read; none of a set without a number.
func (s *search) cachedVectors(set Set) *setVectors {
	kept, cached := s.cache.vectors.Get(set.Number)
	if cached && set.Number != 0 && kept.model == s.question.Model {
		return kept
	}
	return &setVectors{model: s.question.Model, vectors: make([]atomic.Pointer[[]float32], set.ChunkCount)}
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
