package search

import (
	"cmp"
	"context"
	"slices"

	"parlance.dev/parlance/platform/vector"
	"parlance.dev/parlance/workspaces"
)

const (
	// leastCompared is how many chunks are compared by their vectors at least, those with the best
	// codes; all, where there are no more. Decision 0019 has what that finds.
	leastCompared = 200
	// comparedTimes is how many times as many as are wanted, if that is more.
	comparedTimes = 2
	// hybridDepth is how far each order is looked at when two are fused. Decision 0019 has the
	// figures.
	hybridDepth = 100
	// keptBelow is how many candidates under the floor are returned.
	keptBelow = 3
)

// HybridDepth is how far hybrid ranking looks at each order when so many chunks are wanted.
func HybridDepth(limit int) int { return max(hybridDepth, 4*limit) }

// Rank finds the chunks of the sets that answer the question best. The sets are those of one
// workspace, each of another source, in the order in which equal chunks are to stand.
func (x *Index) Rank(ctx context.Context, ref workspaces.Ref, sets []Set, q Question) (Ranking, error) {
	s := &search{Index: x, ref: ref, sets: sets, question: q, first: make([]int, len(sets)+1)}
	for i, set := range sets {
		s.first[i+1] = s.first[i] + set.ChunkCount
	}
	return s.rank(ctx)
}

func (s *search) rank(ctx context.Context) (Ranking, error) {
	depth := s.question.Limit
	var found words
	if s.question.Hybrid {
		depth = HybridDepth(depth)
		var err error
		if found, err = s.scoreWords(ctx, depth); err != nil {
			return Ranking{}, err
		}
	}
	nearest, err := s.estimateNearest(ctx, max(leastCompared, comparedTimes*depth))
	if err != nil {
		return Ranking{}, err
	}
	candidates, incomplete, err := s.compare(ctx, nearest, found.best)
	if err != nil {
		return Ranking{}, err
	}
	for i, one := range candidates[:min(depth, len(candidates))] {
		one.Scores.SimilarityPlace = i + 1
	}
	if found.most() > 0 && len(candidates) > 0 {
		s.fuse(candidates, found)
	} else {
		candidates = candidates[:min(depth, len(candidates))]
	}
	hits, below := s.atFloor(candidates, found)
	return Ranking{Hits: hitsOf(hits), Below: hitsOf(below[:min(len(below), keptBelow)]), Incomplete: incomplete}, nil
}

func hitsOf(candidates []*candidate) []Hit {
	hits := make([]Hit, len(candidates))
	for i, one := range candidates {
		hits[i] = one.Hit
	}
	return hits
}

// estimateNearest returns the places, in no order, of the chunks that are nearest to the question
// by their codes, and of all chunks without a code.
func (s *search) estimateNearest(ctx context.Context, limit int) ([]int, error) {
	total := s.first[len(s.sets)]
	if total <= limit {
		return appendRange(nil, 0, total), nil
	}
	all, err := s.readCodes(ctx)
	if err != nil {
		return nil, err
	}
	var places []int
	top := vector.NewTop(limit)
	estimator := newEstimator(s.question.Vector)
	for i, codes := range all {
		if codes == nil {
			places = appendRange(places, s.first[i], s.first[i+1])
			continue
		}
		for chunk, similarity := range estimator.estimate(codes) {
			top.Add(float64(similarity), s.first[i]+chunk)
		}
	}
	return append(places, placesOf(top.Best())...), nil
}

// appendRange appends the places from one to another.
func appendRange(places []int, from, to int) []int {
	for place := from; place < to; place++ {
		places = append(places, place)
	}
	return places
}

func placesOf(scored []vector.Scored) []int {
	places := make([]int, len(scored))
	for i, one := range scored {
		places[i] = one.Place
	}
	return places
}

// compare compares the question with the vectors of the chunks that codes and words have found. The
// candidates are nearest first. incomplete says that vectors were missing.
func (s *search) compare(ctx context.Context, nearest []int, byWords []vector.Scored) (candidates []*candidate,
	incomplete bool, err error,
) {
	places := slices.Concat(nearest, placesOf(byWords))
	slices.Sort(places)
	places = slices.DeleteFunc(slices.Compact(places), func(place int) bool {
		set, chunk := s.locate(place)
		return s.sets[set].IsDisabled(chunk)
	})
	vectors, err := s.readVectors(ctx, places)
	if err != nil {
		return nil, false, err
	}
	question := slices.Clone(s.question.Vector)
	vector.Scale(question, float32(vector.InverseLength(question)))
	all := make([]candidate, 0, len(places))
	for i, place := range places {
		if vectors[i] == nil {
			incomplete = true
			continue
		}
		set, chunk := s.locate(place)
		cosine := vector.Dot(question, vectors[i])
		all = append(all, candidate{
			Hit:   Hit{Set: set, Chunk: chunk, Similarity: float64(min(1, max(0, cosine)))},
			place: place, cosine: cosine, vector: vectors[i],
		})
	}
	candidates = make([]*candidate, len(all))
	for i := range all {
		candidates[i] = &all[i]
	}
	slices.SortFunc(candidates, nearestFirst)
	return candidates, incomplete, nil
}

// nearestFirst orders candidates; equal ones by their place.
func nearestFirst(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.place, b.place))
}

// atFloor parts candidates at the floor. Those under it stay when they hold enough of the words of
// the question.
func (s *search) atFloor(candidates []*candidate, found words) (hits, below []*candidate) {
	for _, one := range candidates {
		if one.Similarity >= s.question.Floor || found.share(one.Set, one.Chunk) >= shareLeast {
			hits = append(hits, one)
		} else {
			below = append(below, one)
		}
	}
	return hits, below
}
