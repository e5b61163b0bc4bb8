package search

import (
	"cmp"
	"slices"

	"parlance.dev/parlance/platform/vector"
)

// Pseudo-relevance feedback: the best chunks say in their own words what the question is about. The
// numbers were compared on the collections Cranfield, CISI and CACM (task eval:retrieval). Source:
// Rocchio, in Manning, Raghavan and Schütze, Introduction to Information Retrieval, chapter 9.
const (
	// feedbackChunks are taken as what the question is about.
	feedbackChunks = 5
	// feedbackWeight is what they count for beside the question.
	feedbackWeight = 2
	// feedbackLeast is how many chunks there must be to tell apart: among a few, the best five are
	// most of what there is, and say little.
	feedbackLeast = 50
	// knownShare is how much of a question the passage with most of its words holds, when similarity
	// counts for what its model says. The less it is, the more the question is in other words than
	// the passages, and similarity counts for more, by unknownWeight times what is missing. Decision
	// 0044 has what that was measured on.
	knownShare    = 0.5
	unknownWeight = 2
)

// fuse orders the candidates by their words and their similarity to the question together, and
// then by their words and their similarity to the question and the best of them. Similarity is
// spread over 0 to 1, because models differ in what they call similar: of some, all texts are at
// least 0.7. Decision 0044 has what else was tried.
func (s *search) fuse(candidates []*candidate, found words) {
	wordPlaces := make(map[int]int, len(found.best))
	for i, one := range found.best {
		wordPlaces[one.Place] = i + 1
	}
	similarities := make([]float32, len(candidates))
	for i, one := range candidates {
		one.Scores.WordPlace = wordPlaces[one.place]
		one.Scores.WordScore, similarities[i] = found.score(one.Set, one.Chunk), one.cosine
	}
	weight := s.question.Weight + unknownWeight*max(0, knownShare-found.mostShare())
	sum(candidates, similarities, found.most(), weight)
	if len(candidates) < feedbackLeast {
		return
	}
	about := s.about(candidates[:feedbackChunks])
	for i, one := range candidates {
		similarities[i] = vector.Dot(one.vector, about)
	}
	sum(candidates, similarities, found.most(), weight)
}

// sum orders candidates by the sum of two parts: their score by words as a part of the most, and
// their similarity, spread over 0 to the weight.
func sum(candidates []*candidate, similarities []float32, most, weight float64) {
	low, high := slices.Min(similarities), slices.Max(similarities)
	for i, one := range candidates {
		one.Scores.Fused = one.Scores.WordScore / most
		if high > low {
			one.Scores.Fused += weight * float64((similarities[i]-low)/(high-low))
		}
	}
	slices.SortFunc(candidates, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.Scores.Fused, a.Scores.Fused), nearestFirst(a, b))
	})
}

// about is the question together with the mean of the best candidates.
func (s *search) about(best []*candidate) []float32 {
	about := make([]float32, len(s.question.Vector))
	for _, one := range best {
		for i, x := range one.vector {
			about[i] += x
		}
	}
	vector.Scale(about, feedbackWeight*float32(vector.InverseLength(about)))
	asked := float32(vector.InverseLength(s.question.Vector))
	for i, x := range s.question.Vector {
		about[i] += x * asked
	}
	return about
}
