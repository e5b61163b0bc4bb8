package main

import (
	"math"
	"slices"
)

// The depths of the figures.
const (
	depthNDCG = 10
	depthAll  = 100
)

// figuresOf is the figures of one question, or means over many; each is 0 to 1.
type figuresOf struct {
	ndcg10, recall10, recall100, rr float64
}

// measure compares a ranking, best first and each document once, with the gains of the relevant.
func measure(ranking []string, gains map[string]float64) figuresOf {
	f := figuresOf{
		ndcg10: ndcg(ranking, gains, depthNDCG), recall10: recall(ranking, gains, 10),
		recall100: recall(ranking, gains, depthAll),
	}
	for i, id := range ranking {
		if gains[id] > 0 {
			f.rr = 1 / float64(i+1)
			break
		}
	}
	return f
}

// ndcg is the discounted gain through the best that there could be, at depth k. The gain is
// linear and the discount log2(place + 1), as trec_eval has them.
// Source: Järvelin and Kekäläinen, TOIS 2002.
func ndcg(ranking []string, gains map[string]float64, k int) float64 {
	var ideal []float64
	for _, gain := range gains {
		ideal = append(ideal, gain)
	}
	slices.SortFunc(ideal, func(a, b float64) int { return -compare(a, b) })
	var got, best float64
	for i := range k {
		discount := 1 / math.Log2(float64(i+2))
		if i < len(ranking) {
			got += gains[ranking[i]] * discount
		}
		if i < len(ideal) {
			best += ideal[i] * discount
		}
	}
	if best == 0 {
		return 0
	}
	return got / best
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// recall is the part of the relevant documents among the first k.
func recall(ranking []string, gains map[string]float64, k int) float64 {
	found := 0
	for _, id := range ranking[:min(k, len(ranking))] {
		if gains[id] > 0 {
			found++
		}
	}
	return float64(found) / float64(max(1, len(gains)))
}

// mean is the mean of each figure.
func mean(all []figuresOf) figuresOf {
	var sum figuresOf
	for _, f := range all {
		sum.ndcg10 += f.ndcg10
		sum.recall10 += f.recall10
		sum.recall100 += f.recall100
		sum.rr += f.rr
	}
	n := float64(max(1, len(all)))
	return figuresOf{sum.ndcg10 / n, sum.recall10 / n, sum.recall100 / n, sum.rr / n}
}
