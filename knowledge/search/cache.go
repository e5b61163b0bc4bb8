package search

import "parlance.dev/parlance/platform/cache"

// caches hold what searches read of sets, by the numbers of the sets.
type caches struct {
	codes   *cache.Cache[modelKey, *codes]
	lengths *cache.Cache[int64, []int32]
	pages   *cache.Cache[pageKey, postingsPage]
	vectors *cache.Cache[vectorKey, modelVector]
}

// modelKey names what there is once for each set and model.
type modelKey struct {
	number int64
	model  string
}

// pageKey names a row of source_postings.
type pageKey struct {
	number int64
	page   int
}

// vectorKey names a chunk.
type vectorKey struct {
	number int64
	chunk  int
}

// modelVector is a chunk's vector of one model: a workspace answers with one at a time.
type modelVector struct {
	model  string
	vector []float32
}

// newCaches shares bytes out: of seven parts two are for codes, two for words, three for vectors.
// With the shipped setting (224 MiB) the codes of 900,000 chunks fit, and the vectors of 45,000.
func newCaches(bytes int) caches {
	part := bytes / 7
	const float = 4
	return caches{
		codes:   cache.NewSized[modelKey](2*part, (*codes).bytes),
		lengths: cache.NewSized[int64](part/2, func(lengths []int32) int { return float * len(lengths) }),
		pages:   cache.NewSized[pageKey](part+part/2, postingsPage.bytes),
		vectors: cache.NewSized[vectorKey](3*part, func(v modelVector) int { return float * len(v.vector) }),
	}
}
