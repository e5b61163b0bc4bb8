package search

import (
	"reflect"
	"slices"

	"github.com/pgvector/pgvector-go"
)

// Set is the chunks of a source that one run of ingestion has made, and what there is to search
// them by.
type Set struct {
	SourceID string
	// Number names the set for ever. 0: it is not indexed, because a version before 0.2.0 made it;
	// then it is found by its vectors alone, and nothing of it is cached.
	Number int64
	// Batch is the transaction that wrote the chunks; 0 also where that was not noted.
	Batch      int64
	ChunkCount int
	// Language decides how its words are analysed; empty: it could not be told.
	Language string
	// TermCount is how many terms its chunks have together, PageCount over how many rows their
	// postings are spread.
	TermCount int64
	PageCount int
	// HasWords says that its words were indexed by this version of the analyser.
	HasWords bool
	// Disabled are the places of chunks that are not to be found, in order.
	Disabled []int32
}

// Same says that a search of both finds the same.
func (s Set) Same(other Set) bool { return reflect.DeepEqual(s, other) }

// IsDisabled says that a chunk is not to be found.
func (s Set) IsDisabled(chunk int) bool {
	_, is := slices.BinarySearch(s.Disabled, int32(chunk))
	return is
}

// Question is what is searched for.
type Question struct {
	Text string
	// Vector is the text's, made by Model. Only chunks that the same model embedded are found.
	Vector []float32
	Model  string
	// Limit is how many chunks are wanted, at least 1. Hybrid ranking returns all that it ranked.
	Limit int
	// Hybrid orders by words and similarity together.
	Hybrid bool
	// Weight is what similarity counts for beside words, see embedding.Model.
	Weight float64
	// Floor leaves out chunks of a lower similarity that hold less than half of the question.
	Floor float64
}

// Scores say how a chunk came to its place. Places count from 1; 0: it is not in that order, or too
// far behind in it.
type Scores struct {
	SimilarityPlace int
	// WordPlace and WordScore (BM25) are of hybrid ranking.
	WordPlace int
	WordScore float64
	// Fused is the score by words as a part of the best one, and the weighted similarity; 0 when
	// nothing was fused.
	Fused float64
}

// Hit is a chunk that was found.
type Hit struct {
	// Set is the place of its set among those that were searched, Chunk its place in the set.
	Set   int
	Chunk int
	// Similarity is max(0, cosine).
	Similarity float64
	Scores     Scores
}

// Ranking is what a search found.
type Ranking struct {
	// Hits are best first; equal ones in the order of their sets and places.
	Hits []Hit
	// Below are the best few under the floor.
	Below []Hit
	// Incomplete says that chunks were not where they should be: a set was replaced, or its vectors
	// were, while the search read.
	Incomplete bool
}

// Entry is a chunk as it is indexed.
type Entry struct {
	// Title is the name of the source and the headings above the chunk: its words are searched too.
	Title string
	// Text is what was embedded.
	Text string
	// Embedding is the text's vector; empty: it is not at hand.
	Embedding pgvector.Vector
}
