package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCodes looks how often the truly nearest of vectors are among those that their codes find,
// also where all vectors have much in common, as those of many models have.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, dimension := range []int{100, 384, 512, 1536} {
		for _, common := range []float64{0, 2} {
			t.Run(fmt.Sprint(dimension, common), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(dimension), 1))
				random := func(scale float64) []float32 {
					v := make([]float32, dimension)
					for i := range v {
						v[i] = float32(r.NormFloat64() * scale / math.Sqrt(float64(dimension)))
					}
					return v
				}
				add := func(a, b []float32) []float32 {
					sum := slices.Clone(a)
					for i := range sum {
						sum[i] += b[i]
					}
					return sum
				}
				all := random(common)
				var sources [][][]float32
				for range 10 {
					topic := random(1) // what is near has something in common
					source := make([][]float32, 200)
					for i := range source {
						source[i] = add(add(all, topic), random(1))
					}
					sources = append(sources, source)
				}
				coded := make([]*codes, len(sources))
				for i, source := range sources {
					var err error
					if coded[i], err = decode(encode(source), len(source), dimension); err != nil {
						t.Fatal(err)
					}
				}
				found := 0
				for range 20 {
					question := add(sources[0][0], random(1))
					found += inCandidates(t, sources, coded, question)
				}
				if recall := float64(found) / 200; recall < 0.95 {
					t.Errorf("the codes find %.3f of the nearest, want 0.95", recall)
				}
			})
		}
	}
}

// inCandidates is how many of the ten nearest vectors are among the 200 with the nearest codes.
func inCandidates(t *testing.T, sources [][][]float32, codes []*codes, question []float32) int {
	t.Helper()
	type scored struct {
		source, chunk int
		by            float64
	}
	var exact, coded []scored
	e := newEstimator(question)
	for i, source := range sources {
		for chunk, near := range e.estimate(codes[i]) {
			cosine := cosineOf(question, source[chunk])
			if math.Abs(float64(near)-cosine) > 0.35 {
				t.Errorf("the code says %.3f of the similarity %.3f", near, cosine)
			}
			exact, coded = append(exact, scored{i, chunk, cosine}), append(coded, scored{i, chunk, float64(near)})
		}
	}
	for _, list := range [][]scored{exact, coded} {
		slices.SortFunc(list, func(a, b scored) int { return int(math.Copysign(1, b.by-a.by)) })
	}
	found := 0
	for _, one := range exact[:10] {
		if slices.ContainsFunc(coded[:200], func(s scored) bool { return s.source == one.source && s.chunk == one.chunk }) {
			found++
		}
	}
	return found
}

func cosineOf(a, b []float32) float64 {
	var product, squareA, squareB float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		squareA += float64(a[i]) * float64(a[i])
		squareB += float64(b[i]) * float64(b[i])
	}
	return product / math.Sqrt(squareA*squareB)
}

// TestCodesOfLittle gives codes what could divide by nothing.
func TestCodesOfLittle(t *testing.T) {
	t.Parallel()
	one := []float32{0.6, 0, 0.8}
	for name, vectors := range map[string][][]float32{"one": {one}, "equal": {one, one}, "nothing": {{0, 0, 0}}} {
		c, err := decode(encode(vectors), len(vectors), 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, question := range [][]float32{one, {0, 0, 0}} {
			e := newEstimator(question)
			for _, near := range e.estimate(c) {
				want := 0.0
				if name != "nothing" && question[0] != 0 {
					want = 1
				}
				if math.Abs(float64(near)-want) > 1e-5 {
					t.Errorf("%s: similarity %v, want %v", name, near, want)
				}
			}
		}
	}
	if _, err := decode([]byte{1, 2, 3}, 1, 3); err == nil {
		t.Error("broken codes were read")
	}
}

func BenchmarkCodes(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	vectors := make([][]float32, 1000)
	for i := range vectors {
		vectors[i] = make([]float32, 512)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.NormFloat64())
		}
	}
	packed := encode(vectors)
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			encode(vectors)
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := decode(packed, 1000, 512); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("estimate", func(b *testing.B) {
		c, err := decode(packed, 1000, 512)
		if err != nil {
			b.Fatal(err)
		}
		e := newEstimator(vectors[0])
		for b.Loop() {
			e.estimate(c)
		}
	})
}
