package embedding

import (
	"context"
	"fmt"
)

// Kind says what a text is for; some models treat questions and passages differently.
type Kind uint8

// The kinds of text.
const (
	Document Kind = iota
	Query
)

// Model describes the vectors of an embedder.
type Model struct {
	// Name is stored with every vector.
	Name string
	// Dimension is the length of a vector; 0 until the first Embed where the server decides it.
	Dimension int
	// DefaultFloor is the similarity (max(0, cosine)) under which a passage is no answer, used
	// in conversations when nothing else is configured. 0 means no floor is known.
	DefaultFloor float64
	// HybridWeight is what similarity counts for in hybrid ranking, where words count for 1.
	HybridWeight float64
	// MaxBatch is how many texts go into one call of the model; Embed takes any number.
	MaxBatch int
	// Local says that it runs in this process and costs nothing but its time: a vector is made again
	// sooner than it is kept for a run that follows a broken one.
	Local bool
}

// Refused is about one text that the model does not take while it takes others, because it is
// too long or for a reason of its own: asking again cannot help.
type Refused struct {
	// Index of the text among those of the call.
	Index int
	// Err is the outside party's answer, without its own words.
	Err error
}

// Error is for logs.
func (r *Refused) Error() string { return fmt.Sprintf("text %d refused: %v", r.Index, r.Err) }

// Unwrap returns the answer.
func (r *Refused) Unwrap() error { return r.Err }

// Embedder makes vectors. It is safe for concurrent use.
type Embedder interface {
	// Model describes the vectors without calling anyone.
	Model() Model
	// Embed gives one finite, non-zero vector for each text, in the order of texts; all have
	// the model's dimension. No texts give no vectors and call nobody.
	// Errors: *Refused for a text that the model does not take, Upstream upstream-failed when an
	// outside party failed otherwise, or ctx's error.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)
}
