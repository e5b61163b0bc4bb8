package main

import (
	"cmp"
	"math"
	"slices"
)

// BM25's constants. Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// bm25 ranks documents by their words, the plain way: everything in memory, nothing else weighed.
type bm25 struct {
	ids      []string
	lengths  []float64
	average  float64
	postings map[string][]termCount
}

// termCount is how often a document holds a term.
type termCount struct {
	document int
	times    float64
}

// newBM25 indexes documents by their terms, repeated as often as they occur.
func newBM25(ids []string, terms [][]string) *bm25 {
	index := &bm25{ids: ids, postings: map[string][]termCount{}}
	for document, list := range terms {
		for _, term := range list {
			of := index.postings[term]
			if n := len(of); n > 0 && of[n-1].document == document {
				of[n-1].times++
				continue
			}
			index.postings[term] = append(of, termCount{document, 1})
		}
		index.lengths = append(index.lengths, float64(len(list)))
		index.average += float64(len(list)) / float64(len(terms))
	}
	return index
}

// rank returns at most depth documents that hold a term of the question, best first; equal ones
// in the order in which they were given. A term that the question repeats counts as often.
func (b *bm25) rank(question []string, depth int) []string {
	scores := map[int]float64{}
	n := float64(len(b.ids))
	for _, term := range question {
		list := b.postings[term]
		holding := float64(len(list))
		idf := math.Log(1 + (n-holding+0.5)/(holding+0.5))
		for _, p := range list {
			scores[p.document] += idf * p.times * (bm25K1 + 1) / (p.times + bm25K1*(1-bm25B+bm25B*b.lengths[p.document]/b.average))
		}
	}
	order := make([]int, 0, len(scores))
	for document := range scores {
		order = append(order, document)
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	ranking := make([]string, 0, depth)
	for _, document := range order[:min(depth, len(order))] {
		ranking = append(ranking, b.ids[document])
	}
	return ranking
}
