package main

import (
	"fmt"

	"parlance.dev/parlance/test/figures"
)

// The targets. Source: the project's plan for retrieval: hybrid ranking significantly better than
// BM25, similarity alone not far behind it.
const (
	significant     = 0.05
	similarityLeast = 0.85
)

// rows are the outcome as figures; the peer is BM25.
func rows(o outcome) []figures.Row {
	bm25 := mean(o.bm25)
	named := func(name string, f figuresOf, more string) figures.Row {
		return figures.Row{
			Name: "nDCG@10 of " + name, Value: figures.Round(f.ndcg10), Better: "higher",
			Note: fmt.Sprintf("recall@10 %.3f, recall@100 %.3f, MRR %.3f%s", f.recall10, f.recall100, f.rr, more),
		}
	}
	hybrid := compared(o.hybrid, o.bm25)
	better := figures.Row{
		Name: "p of the difference of hybrid ranking and BM25", Value: figures.Round(hybrid.p), Better: "lower",
		Note: fmt.Sprintf("paired bootstrap, %d resamples, two-sided; "+
			"the difference in nDCG@10 is %+.4f, 95 %% interval %+.4f to %+.4f", resamples, hybrid.mean, hybrid.low, hybrid.high),
	}.To(significant)
	if hybrid.mean <= 0 {
		better.Note += fmt.Sprintf("; hybrid ranking is not better (p = %.4f that they are equal)", hybrid.p)
		better.Value = 1
	}
	return []figures.Row{
		named("BM25", bm25, fmt.Sprintf("; %d questions, %d documents", o.questions, o.documents)),
		named("similarity ranking", mean(o.similarity), "; "+differenceOf(o.similarity,
			o.bm25)+"; "+o.model).Against(bm25.ndcg10).To(similarityLeast),
		named("hybrid ranking", mean(o.hybrid), "; "+differenceOf(o.hybrid, o.similarity)+" to similarity").Against(bm25.ndcg10),
		better,
	}
}

func compared(a, b []figuresOf) difference {
	of := func(all []figuresOf) []float64 {
		values := make([]float64, len(all))
		for i, f := range all {
			values[i] = f.ndcg10
		}
		return values
	}
	return pairedBootstrap(of(a), of(b), seed)
}

func differenceOf(a, b []figuresOf) string {
	d := compared(a, b)
	return fmt.Sprintf("difference %+.4f (%+.4f to %+.4f, p = %.4f)", d.mean, d.low, d.high, d.p)
}
