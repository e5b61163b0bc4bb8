package search

import (
	"slices"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Index searches sets of chunks. Safe for concurrent use.
type Index struct {
	db    *postgres.DB
	cache caches
}

// New makes an Index that keeps at most so many bytes in memory.
func New(db *postgres.DB, cacheBytes int) *Index {
	return &Index{db: db, cache: newCaches(cacheBytes)}
}

// search is one search. The chunks of all sets have places: set after set, each set's in their
// order.
type search struct {
	*Index
	ref      workspaces.Ref
	sets     []Set
	question Question
	// first are the places of the sets' first chunks, and at the end how many chunks there are.
	first []int
}

// locate returns the set and the chunk at a place.
func (s *search) locate(place int) (set, chunk int) {
	set, _ = slices.BinarySearch(s.first, place+1)
	return set - 1, place - s.first[set-1]
}

// fits says whether what is searched takes at most a third of the cache, and fits beside what is
// there. Then sets of which nothing is cached are read whole: the searches after a start or a
// change wait for Postgres once, and not until they have seen every chunk.
func (s *search) fits(cache interface{ HasRoom(bytes int) bool }, bytes int) bool {
	return bytes <= s.cache.wholeBytes && cache.HasRoom(bytes)
}

// candidate is a chunk whose vector was compared with the question.
type candidate struct {
	Hit
	place  int
	cosine float32
	vector []float32
}
