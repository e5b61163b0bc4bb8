package search

import (
	"cmp"
	"slices"

	"parlance.dev/parlance/platform/vector"
)

// fusionK is of reciprocal rank fusion. Source: Cormack, Clarke and Büttcher, SIGIR 2009.
const fusionK = 60

// Pseudo-relevance feedback: the best chunks say in their own words what the question is about. The
// numbers were compared on the collections Cranfield, CISI and CACM (task eval:retrieval). Source:
// Rocchio, in Manning, Raghavan and Schütze, Introduction to Information Retrieval, chapter 9.
const (
	// feedbackChunks are taken as what the question is about.
	feedbackChunks = 5
	// feedbackLeast is how many chunks there must be to tell apart: among a few, the best five are
	// most of what there is, and say little.
	feedbackLeast = 50
)

// fuse orders the hits by the sum of their reciprocal ranks by similarity and by words, and then by
// those in the order of feedback and by words. The places by words are counted among the hits: what
// the floor has cut holds none. No hit is added or lost.
func (s *search) fuse(hits []*candidate, byWords []vector.Scored) {
	at := make(map[int]*candidate, len(byWords))
	for _, one := range hits {
		if one.byWords {
			at[one.place] = one
		}
	}
	places := 0
	for _, word := range byWords {
		if one := at[word.Place]; one != nil {
			places++
			one.Scores.WordPlace, one.Scores.WordScore = places, word.Score
		}
	}
	for _, one := range hits {
		scores := &one.Scores
		scores.Fused = reciprocal(scores.SimilarityPlace) + reciprocal(scores.WordPlace)
	}
	slices.SortFunc(hits, byFused)
	if len(hits) < feedbackLeast {
		return
	}
	for place, i := range s.orderByFeedback(hits) {
		scores := &hits[i].Scores
		scores.FeedbackPlace = place + 1
		scores.Fused = reciprocal(scores.FeedbackPlace) + reciprocal(scores.WordPlace)
	}
	slices.SortFunc(hits, byFused)
}

// orderByFeedback returns the hits' places in the order of their similarity to the question and
// twice the mean of the best hits, each of length 1.
func (s *search) orderByFeedback(hits []*candidate) []int {
	about := make([]float32, len(s.question.Vector))
	for _, one := range hits[:feedbackChunks] {
		for i, x := range one.vector {
			about[i] += x
		}
	}
	vector.Scale(about, 2*float32(vector.InverseLength(about)))
	asked := float32(vector.InverseLength(s.question.Vector))
	for i, x := range s.question.Vector {
		about[i] += x * asked
	}
	similarities, order := make([]float32, len(hits)), make([]int, len(hits))
	for i, one := range hits {
		similarities[i], order[i] = vector.Dot(one.vector, about), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(similarities[b], similarities[a]) })
	return order
}

// reciprocal is what a place counts for when orders are fused; 0: it has none.
func reciprocal(place int) float64 {
	if place == 0 {
		return 0
	}
	return 1 / float64(fusionK+place)
}

// byFused is the order of hits whose ranks were fused; equal ones by similarity.
func byFused(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.Scores.Fused, a.Scores.Fused), nearestFirst(a, b))
}
