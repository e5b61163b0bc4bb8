package embedding

import (
	"context"
	"time"
)

// Probed is what an embedder has shown.
type Probed struct {
	// Dimension is the length of its vectors.
	Dimension int
	// Took is the time for a question when the model is loaded.
	Took time.Duration
}

// Probe embeds a question twice and measures the second time, because many servers load the model
// for the first. Errors: those of Embedder.Embed.
func Probe(ctx context.Context, embedder Embedder, now func() time.Time) (Probed, error) {
	question := []string{"Does the embedder answer?"}
	if _, err := embedder.Embed(ctx, question, Query); err != nil {
		return Probed{}, err
	}
	began := now()
	vectors, err := embedder.Embed(ctx, question, Query)
	if err != nil {
		return Probed{}, err
	}
	return Probed{Dimension: len(vectors[0]), Took: now().Sub(began)}, nil
}
