package vector

import (
	"cmp"
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

// TestSums compares with adding one by one, for vectors of several lengths.
func TestSums(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, words := range []int{1, 2, 8, 24, 64, 65} {
		for _, count := range []int{1, 31, 32, 33, 100} {
			signs := make([]uint64, count*words)
			for i := range signs {
				signs[i] = r.Uint64()
			}
			weights := make([]int8, 64*words)
			for i := range weights {
				weights[i] = int8(r.IntN(16) - 8)
			}
			laid := NewSigns(signs, words)
			if laid.Any() != (wide && words <= 64) {
				t.Errorf("%d words: there are some: %v", words, laid.Any())
			}
			if !laid.Any() {
				continue
			}
			var w Weights
			w.Set(make([]int8, 64))
			w.Set(weights)
			out := make([]int32, count+blockVectors)
			laid.Sums(&w, out)
			for i := range count {
				want := int32(0)
				for bit, weight := range weights {
					if signs[i*words+bit/64]>>(bit%64)&1 == 1 {
						want += int32(weight)
					}
				}
				if out[i] != want {
					t.Fatalf("%d words, vector %d of %d: %d, want %d", words, i, count, out[i], want)
				}
			}
		}
	}
}

// TestTop compares with sorting all.
func TestTop(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var top Top
	for _, count := range []int{0, 1, 9, 10, 11, 500} {
		for _, equal := range []bool{false, true} {
			const limit = 10
			top.Reset(limit)
			scores := make([]float32, count)
			for i := range scores {
				scores[i] = float32(r.NormFloat64())
				if equal {
					scores[i] = float32(r.IntN(3) - 1)
				}
				if scores[i] >= top.Floor() {
					top.Add(scores[i], i)
				}
			}
			places := make([]int, count)
			for i := range places {
				places[i] = i
			}
			slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
			ascending := slices.Sorted(slices.Values(places[:min(limit, count)]))
			if got := top.Places(); !slices.Equal(got, ascending) {
				t.Errorf("%d scores: the places %v, want %v", count, got, ascending)
			}
			var got []int
			for _, key := range top.Keys() {
				got = append(got, Place(key))
			}
			if want := places[:min(limit, count)]; !slices.Equal(got, want) {
				t.Errorf("%d scores, some equal %v: %v, want %v", count, equal, got, want)
			}
		}
	}
}

func BenchmarkSums(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	signs := make([]uint64, 10_000*8)
	for i := range signs {
		signs[i] = r.Uint64()
	}
	laid, out := NewSigns(signs, 8), make([]int32, 10_000+blockVectors)
	var w Weights
	w.Set(make([]int8, 512))
	for b.Loop() {
		if !laid.Any() {
			continue // this processor sums another way
		}
		laid.Sums(&w, out)
	}
}
