package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// TestDot: the same bits with the processor's instructions and without, for every length.
func TestDot(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		a, b := random(r, n), random(r, n)
		var exact float64
		for i := range a {
			exact += float64(a[i]) * float64(b[i])
		}
		got := Dot(a, b)
		if math.Abs(float64(got)-exact) > 1e-4 {
			t.Errorf("%d numbers: %v, want about %v", n, got, exact)
		}
		if plain := dotPlain(a[:n/lanes*lanes], b[:n/lanes*lanes]); n%lanes == 0 && plain != got {
			t.Errorf("%d numbers: %v, and without the processor's instructions %v", n, got, plain)
		}
	}
	if got := Dot([]float32{1, 2, 3}, []float32{2}); got != 2 {
		t.Errorf("vectors of two lengths: %v, want 2", got)
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := random(r, 512), random(r, 512)
	for name, f := range map[string]func(a, b []float32) float32{"dot": Dot, "plain": dotPlain} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(x, y)
			}
		})
	}
}
