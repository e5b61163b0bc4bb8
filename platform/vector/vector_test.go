package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// TestDot compares with a sum in float64, for every length.
func TestDot(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		a, b := random(r, n), random(r, n)
		var exact float64
		for i := range a {
			exact += float64(a[i]) * float64(b[i])
		}
		if got := Dot(a, b); math.Abs(float64(got)-exact) > 1e-4 {
			t.Errorf("%d numbers: %v, want about %v", n, got, exact)
		}
	}
	if got := Dot([]float32{1, 2, 3}, []float32{2}); got != 2 {
		t.Errorf("vectors of two lengths: %v, want 2", got)
	}
}

func TestInverseLength(t *testing.T) {
	t.Parallel()
	v := []float32{3, 4}
	if got := InverseLength(v); got != 0.2 {
		t.Errorf("got %v, want 0.2", got)
	}
	Scale(v, 2)
	if !slices.Equal(v, []float32{6, 8}) {
		t.Errorf("scaled: got %v", v)
	}
	if got := InverseLength(make([]float32, 3)); got != 0 {
		t.Errorf("of no length: got %v, want 0", got)
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := random(r, 512), random(r, 512)
	for b.Loop() {
		Dot(x, y)
	}
}

// TestTop compares with sorting all, with few scores and with many, some of which are equal.
func TestTop(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for kind, score := range map[string]func(i int) float64{
		"different": func(int) float64 { return r.NormFloat64() },
		"equal":     func(int) float64 { return float64(r.IntN(3) - 1) },
		"one":       func(int) float64 { return 1 },
		"rising":    func(i int) float64 { return float64(i) },
	} {
		for _, count := range []int{0, 1, 9, 10, 11, 500, 4000} {
			for _, limit := range []int{0, 1, 10, 300} {
				all := make([]Scored, count)
				top := NewTop(limit)
				for i := range all {
					all[i] = Scored{score(i), i}
				}
				for _, i := range r.Perm(count) {
					top.Add(all[i].Score, all[i].Place)
				}
				slices.SortFunc(all, compare)
				if want := all[:min(limit, count)]; !slices.Equal(top.Sorted(), want) {
					t.Errorf("%s, the best %d of %d: %v, want %v", kind, limit, count, top.Sorted(), want)
				}
			}
		}
	}
}
