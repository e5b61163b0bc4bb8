package embeddingtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"parlance.dev/parlance/provider/embedding"
)

// Run holds an embedder to the promises of embedding.Embedder.
func Run(t *testing.T, e embedding.Embedder) {
	t.Helper()
	if m := e.Model(); m.Name == "" || m.MaxBatch < 1 || m.DefaultFloor < 0 || m.DefaultFloor >= 1 {
		t.Errorf("the model is described as %+v", m)
	}
	t.Run("Shape", func(t *testing.T) { testShape(t, e) })
	t.Run("OrderAndBatches", func(t *testing.T) { testOrder(t, e) })
	t.Run("Concurrent", func(t *testing.T) { testConcurrent(t, e) })
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Embed(ctx, []string{"text"}, embedding.Query); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
	t.Run("Nothing", func(t *testing.T) {
		vectors, err := e.Embed(t.Context(), nil, embedding.Document)
		if err != nil || len(vectors) != 0 {
			t.Errorf("got %d vectors, %v", len(vectors), err)
		}
	})
}

func testShape(t *testing.T, e embedding.Embedder) {
	texts := []string{"a plain sentence", "知識ベース", "!?", "🎉", "the", "x\ny\tz", "\u00e9"}
	for _, kind := range []embedding.Kind{embedding.Document, embedding.Query} {
		for i, vector := range embed(t, e, texts, kind) {
			if len(vector) != e.Model().Dimension || len(vector) == 0 {
				t.Errorf("%q has %d numbers, the model %d", texts[i], len(vector), e.Model().Dimension)
			}
			if norm := Cosine(vector, vector); math.IsNaN(norm) || math.Abs(norm-1) > 1e-5 {
				t.Errorf("%q has a vector without a direction", texts[i])
			}
		}
	}
}

func testOrder(t *testing.T, e embedding.Embedder) {
	var texts []string
	for i := range 2*e.Model().MaxBatch + 3 {
		texts = append(texts, fmt.Sprintf("passage %d about topic%d", i, i))
	}
	all := embed(t, e, texts, embedding.Document)
	for _, i := range []int{0, 1, e.Model().MaxBatch - 1, e.Model().MaxBatch, len(texts) - 1} {
		alone := embed(t, e, texts[i:i+1], embedding.Document)
		if !slices.Equal(alone[0], all[i]) {
			t.Errorf("text %d has another vector alone than among %d", i, len(texts))
		}
	}
}

func testConcurrent(t *testing.T, e embedding.Embedder) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			text := fmt.Sprintf("worker number %d", i)
			first, err := e.Embed(t.Context(), []string{text}, embedding.Query)
			second, err2 := e.Embed(t.Context(), []string{text}, embedding.Query)
			if err := errors.Join(err, err2); err != nil || !slices.Equal(first[0], second[0]) {
				t.Errorf("the same text twice: %v", err)
			}
		})
	}
	group.Wait()
}

func embed(t *testing.T, e embedding.Embedder, texts []string, kind embedding.Kind) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), texts, kind)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(texts) {
		t.Fatalf("got %d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors
}

// Cosine is the cosine of two vectors of one length; NaN when either is zero.
func Cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}
