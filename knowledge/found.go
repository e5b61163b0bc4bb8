package knowledge

import "parlance.dev/parlance/knowledge/search"

// Found is a chunk that a query found.
type Found struct {
	Chunk      `bun:",extend"`
	SourceName string `bun:"source_name"`
	// Similarity is max(0, cosine) of the question and the chunk.
	Similarity float64 `bun:"similarity"`
	// Scores say how it came to its place.
	Scores Scores `bun:"-"`
	// words are those of its content.
	words wordSet
	// spot is where it stands among what was searched.
	spot spot
}

// Scores say how a chunk came to its place.
type Scores struct {
	search.Scores
	// Rerank is the reranking server's score; nil when it was not asked for this chunk.
	Rerank *float64
}

// textKey names a chunk for ever: a set of chunks never changes, and sources are not renamed.
type textKey struct {
	number int64
	index  int
}

// textOverhead is about what a chunk takes in memory beside its text: its numbers and ids.
const textOverhead = 600

// bytes is about what the chunk takes in the cache.
func (f Found) bytes() int {
	return textOverhead + len(f.Content) + len(f.Heading) + 8*cap(f.words)
}

// spot is where a chunk stands: Set counts among the sets of a search.
type spot struct{ set, chunk int }
