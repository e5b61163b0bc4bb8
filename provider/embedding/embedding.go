package embedding

import "context"

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
	// MaxBatch is how many texts go into one call of the model; Embed takes any number.
	MaxBatch int
}

// Embedder makes vectors. It is safe for concurrent use.
type Embedder interface {
	// Model describes the vectors without calling anyone.
	Model() Model
	// Embed gives one finite, non-zero vector for each text, in the order of texts; all have
	// the model's dimension. No texts give no vectors and call nobody.
	// Errors: Upstream upstream-failed when an outside party failed, or ctx's error.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)
}
