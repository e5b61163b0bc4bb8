package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestBM25ByHand: three documents of 2, 4 and 3 terms (3 on average), one question of two terms.
// "cat" is in two, so its idf is ln(1 + 1.5/2.5); "dog" is in one: ln(1 + 2.5/1.5).
func TestBM25ByHand(t *testing.T) {
	t.Parallel()
	cat, dog := math.Log(1.6), math.Log(1+2.5/1.5)
	first := cat * 1 * 2.2 / (1 + 1.2*(0.25+0.75*2/3))                                  // cat bird
	second := cat*2*2.2/(2+1.2*(0.25+0.75*4.0/3)) + dog*1*2.2/(1+1.2*(0.25+0.75*4.0/3)) // cat cat dog fish
	if first >= second {
		t.Fatal("the example says nothing")
	}
	index := newBM25([]string{"first", "second", "third"}, [][]string{
		{"cat", "bird"},
		{"cat", "cat", "dog", "fish"},
		{"fish", "bird", "cow"},
	})
	if got, want := index.rank([]string{"cat", "dog"}, 10), []string{"second", "first"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := independent([][]string{{"cat", "bird"}, {"cat", "cat", "dog", "fish"}, {"fish", "bird", "cow"}},
		[]string{"cat", "dog"}); math.Abs(got[0]-first) > 1e-12 || math.Abs(got[1]-second) > 1e-12 || got[2] != 0 {
		t.Errorf("the independent one says %v, want %v, %v and 0", got, first, second)
	}
}

// independent is BM25 once more, written from the formula: for every document, for every term of
// the question, counted anew. Score(D, Q) = Σ IDF(q) · f(q, D) (k1 + 1) / (f(q, D) + k1 (1 - b + b
// |D| / avgdl)).
func independent(documents [][]string, question []string) []float64 {
	count := func(term string, in []string) (n float64) {
		for _, one := range in {
			if one == term {
				n++
			}
		}
		return n
	}
	avgdl := float64(len(slices.Concat(documents...))) / float64(len(documents))
	scores := make([]float64, len(documents))
	for i, d := range documents {
		for _, q := range question {
			var holding float64
			for _, other := range documents {
				if slices.Contains(other, q) {
					holding++
				}
			}
			idf := math.Log((float64(len(documents))-holding+0.5)/(holding+0.5) + 1)
			f := count(q, d)
			scores[i] += idf * f * (1.2 + 1) / (f + 1.2*(1-0.75+0.75*float64(len(d))/avgdl))
		}
	}
	return scores
}

// TestBM25AgainstAnother holds the index to the independent one on random texts.
func TestBM25AgainstAnother(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	word := func() string { return fmt.Sprint("w", int(math.Abs(random.NormFloat64())*20)) }
	text := func(most int) []string {
		words := make([]string, 1+random.IntN(most))
		for i := range words {
			words[i] = word()
		}
		return words
	}
	for range 20 {
		documents := make([][]string, 60)
		ids := make([]string, len(documents))
		for i := range documents {
			documents[i], ids[i] = text(80), fmt.Sprint(i)
		}
		index := newBM25(ids, documents)
		for range 10 {
			question := text(6)
			scores := independent(documents, question)
			var want []string
			for i := range scores {
				if scores[i] > 0 {
					want = append(want, ids[i])
				}
			}
			at := func(id string) int { return slices.Index(ids, id) }
			slices.SortStableFunc(want, func(a, b string) int {
				if d := scores[at(b)] - scores[at(a)]; math.Abs(d) > 1e-9 {
					return cmp.Compare(d, 0)
				}
				return cmp.Compare(at(a), at(b))
			})
			if diff := gocmp.Diff(index.rank(question, 20), want[:min(20, len(want))]); diff != "" {
				t.Fatalf("question %s: %s", strings.Join(question, " "), diff)
			}
		}
	}
}
