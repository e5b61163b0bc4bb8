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
		if before := DotBefore(a, b, random(r, n)); before != got {
			t.Errorf("%d numbers: %v before another, else %v", n, before, got)
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

// TestPick compares with sorting all: with few scores and with many, of which some are equal, differ by less than 32 bits
// tell, or are highest where the sample is taken.
func TestPick(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	kinds := map[string]func(i int) float64{
		"different": func(int) float64 { return r.NormFloat64() },
		"equal":     func(int) float64 { return float64(r.IntN(3) - 1) },
		"close":     func(int) float64 { return 1 + r.Float64()/(1<<24) },
		"one":       func(int) float64 { return 1 },
		"rising":    func(i int) float64 { return float64(i) },
		"sampled":   func(i int) float64 { return float64(1 - min(1, i%8)) },
		"few":       func(i int) float64 { return float64(1 - min(1, i%1000)) },
	}
	var top Top
	for kind, score := range kinds {
		for _, count := range []int{0, 1, 9, 10, 11, 500, 8 * sampled, 20_000} {
			for _, limit := range []int{1, 10, 300} {
				for _, least := range []float32{float32(math.Inf(-1)), math.SmallestNonzeroFloat32, 1} {
					exact, rounded := make([]float64, count), make([]float32, count)
					var places []int
					for i := range exact {
						exact[i] = score(i)
						if rounded[i] = float32(exact[i]); rounded[i] >= least {
							places = append(places, i)
						}
					}
					slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(rounded[b], rounded[a]) })
					want := places[:min(limit, len(places))]
					if got := picked(Pick(&top, rounded, limit, least)); !slices.Equal(got, want) {
						t.Errorf("%s, %d of %d from %v: %v, want %v", kind, limit, count, least, got, want)
					}
					if got := picked(Pick(&top, exact, limit, least)); !slices.Equal(got, want) {
						t.Errorf("%s, %d of %d from %v, 64 bits: %v, want %v", kind, limit, count, least, got, want)
					}
				}
			}
		}
	}
}

// picked are the places of keys in their order.
func picked(keys []uint64) []int {
	var places []int
	for _, key := range slices.Sorted(slices.Values(keys)) {
		places = append(places, Place(key))
	}
	return places
}

func BenchmarkPick(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	lots := make([][]float32, 50)
	for i := range lots {
		lots[i] = random(r, 10_000)
	}
	var top Top
	i := 0
	for b.Loop() {
		Pick(&top, lots[i%len(lots)], 256, float32(math.Inf(-1)))
		i++
	}
}

func BenchmarkWeights(b *testing.B) {
	weights := make([]int8, 512)
	for i := range weights {
		weights[i] = int8(i%16 - 8)
	}
	var w Weights
	for b.Loop() {
		w.Set(weights)
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
