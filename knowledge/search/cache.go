package search

import (
	"sync/atomic"

	"parlance.dev/parlance/platform/cache"
)

// caches hold what searches read of sets, by the numbers of the sets.
type caches struct {
	codes   *cache.Cache[modelKey, *codes]
	lengths *cache.Cache[int64, []int32]
	pages   *cache.Cache[pageKey, postingsPage]
	vectors *cache.Cache[int64, *setVectors]
	// wholeBytes is how much is read at most before it is asked for; see search.fits.
	wholeBytes int
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

// setVectors are the vectors of a set's chunks that searches have read, by chunk; nil: not yet. All
// are of one model: a workspace answers with one at a time. Searches add to it side by side.
type setVectors struct {
	model   string
	vectors []atomic.Pointer[[]float32]
	// floats is how many numbers the vectors have together.
	floats atomic.Int64
}

// bytes is what the vectors take in memory.
func (v *setVectors) bytes() int {
	const float, pointer = 4, 32 // with the slice that it points to
	return float*int(v.floats.Load()) + pointer*len(v.vectors)
}

// add adds a chunk's vector, unless another search has.
func (v *setVectors) add(chunk int, read []float32) {
	if v.vectors[chunk].CompareAndSwap(nil, &read) {
		v.floats.Add(int64(len(read)))
	}
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
		vectors: cache.NewSized[int64](3*part, (*setVectors).bytes), wholeBytes: part,
	}
}
