package main

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: got %.10f, want %.10f", what, got, want)
	}
}

// TestMeasure has its numbers computed by hand: log2(3) = 1.5849625007, log2(5) = 2.3219280949.
func TestMeasure(t *testing.T) {
	t.Parallel()
	gains := map[string]float64{"a": 1, "b": 1, "c": 1}
	f := measure([]string{"x", "a", "y", "b"}, gains)
	const (
		got   = 1/1.5849625007211562 + 1/2.321928094887362 // places 2 and 4
		ideal = 1 + 1/1.5849625007211562 + 0.5             // places 1, 2 and 3
	)
	near(t, "nDCG@10", f.ndcg10, got/ideal)
	near(t, "recall@10", f.recall10, 2.0/3)
	near(t, "recall@100", f.recall100, 2.0/3)
	near(t, "MRR", f.rr, 0.5)
	near(t, "graded nDCG", ndcg([]string{"one", "two"}, map[string]float64{"one": 1, "two": 2}, 10),
		(1+2/1.5849625007211562)/(2+1/1.5849625007211562))
	near(t, "best order", ndcg([]string{"two", "one"}, map[string]float64{"one": 1, "two": 2}, 10), 1)
	if none := measure(nil, gains); none != (figuresOf{}) {
		t.Errorf("nothing found: %+v", none)
	}
}

// TestDepths puts the one relevant document at places 10, 11, 100 and 101.
func TestDepths(t *testing.T) {
	t.Parallel()
	for place, want := range map[int]figuresOf{
		10: {ndcg10: 1 / math.Log2(11), recall10: 1, recall100: 1, rr: 0.1}, 11: {recall100: 1, rr: 1.0 / 11},
		100: {recall100: 1, rr: 0.01}, 101: {rr: 1.0 / 101},
	} {
		ranking := make([]string, 150)
		ranking[place-1] = "it"
		if got := measure(ranking, map[string]float64{"it": 1}); math.Abs(got.ndcg10-want.ndcg10) > 1e-9 ||
			got.recall10 != want.recall10 || got.recall100 != want.recall100 || math.Abs(got.rr-want.rr) > 1e-9 {
			t.Errorf("place %d: got %+v, want %+v", place, got, want)
		}
	}
}

func TestMean(t *testing.T) {
	t.Parallel()
	if got := mean([]figuresOf{{1, 0.5, 1, 1}, {0, 0.5, 0, 0.5}}); got != (figuresOf{0.5, 0.5, 0.5, 0.75}) {
		t.Errorf("got %+v", got)
	}
}

// TestPairedBootstrap: the same numbers have no difference, a constant one is certain, and a small
// sample with both signs is not.
func TestPairedBootstrap(t *testing.T) {
	t.Parallel()
	base := make([]float64, 50)
	more := make([]float64, 50)
	mixed := make([]float64, 50)
	for i := range base {
		base[i] = float64(i%7) / 10
		more[i] = base[i] + 0.1
		mixed[i] = base[i] + 0.1*float64(i%2*2-1)
	}
	if d := pairedBootstrap(base, base, 1); d.mean != 0 || d.p != 1 || d.low != 0 || d.high != 0 {
		t.Errorf("the same: %+v", d)
	}
	if d := pairedBootstrap(more, base, 1); math.Abs(d.mean-0.1) > 1e-9 || d.p > 0.001 || d.low < 0.0999 || d.high > 0.1001 {
		t.Errorf("always more: %+v", d)
	}
	d := pairedBootstrap(mixed, base, 1)
	if math.Abs(d.mean) > 1e-9 || d.p < 0.9 || d.low >= 0 || d.high <= 0 {
		t.Errorf("as often less: %+v", d)
	}
	// The mean of 50 draws of ±0.1 has the standard deviation 0.1/√50, so 95 % lie within 1.96 of
	// it.
	if width, want := d.high-d.low, 2*1.96*0.1/math.Sqrt(50); math.Abs(width-want) > 0.1*want {
		t.Errorf("the interval is %.4f wide, want about %.4f", width, want)
	}
	if again := pairedBootstrap(mixed, base, 1); again != d {
		t.Errorf("the same seed gives %+v, then %+v", d, again)
	}
	if other := pairedBootstrap(mixed, base, 2); other == d {
		t.Errorf("another seed gives the same %+v", d)
	}
}
