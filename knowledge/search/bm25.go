package search

import (
	"context"
	"math"
	"slices"

	"parlance.dev/parlance/platform/vector"
)

// BM25's constants. Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// shareLeast is how much of a question a passage holds that words alone have found. What that lets
// through is not measured yet.
const shareLeast = 0.5

// words are what the terms of a question say about chunks.
type words struct {
	// best are the chunks with the best scores, best first.
	best []vector.Scored
	// scores (BM25) are of each set's chunks; nil where none holds a term.
	scores [][]float64
	// shares are how much of the question each chunk holds, as scores are.
	shares [][]float64
}

// share is how much of the question a chunk holds, 0 to 1. A rare word counts for more.
func (w words) share(set, chunk int) float64 {
	if w.shares == nil || w.shares[set] == nil {
		return 0
	}
	return w.shares[set][chunk]
}

// mostShare is the share of the chunk that holds most of the question.
func (w words) mostShare() float64 {
	most := 0.0
	for _, shares := range w.shares {
		if len(shares) > 0 {
			most = max(most, slices.Max(shares))
		}
	}
	return most
}

// score is a chunk's; 0: it holds no term of the question.
func (w words) score(set, chunk int) float64 {
	if w.scores == nil || w.scores[set] == nil {
		return 0
	}
	return w.scores[set][chunk]
}

// most is the best score; 0: no chunk holds a term.
func (w words) most() float64 {
	if len(w.best) == 0 {
		return 0
	}
	return w.best[0].Score
}

// scoreWords scores the chunks by the terms of the question, and finds the best, at most limit. How
// rare a word is, and how long a chunk usually is, is counted over exactly these sets.
func (s *search) scoreWords(ctx context.Context, limit int) (words, error) {
	chunks, length := 0, int64(0)
	for _, set := range s.sets {
		if set.HasWords {
			chunks += set.ChunkCount
			length += set.TermCount
		}
	}
	if length == 0 {
		return words{}, nil
	}
	terms := termsOf(s.question.Text, s.sets)
	postings, err := s.readPostings(ctx, terms)
	if err != nil {
		return words{}, err
	}
	lengths, err := s.readLengths(ctx, postings)
	if err != nil {
		return words{}, err
	}
	holding := map[string]int{}
	for _, lists := range postings {
		for _, list := range lists {
			holding[list.text] += len(list.postings)
		}
	}
	best := vector.NewTop(limit)
	found := words{scores: make([][]float64, len(s.sets)), shares: make([][]float64, len(s.sets))}
	rarity := func(text string) float64 {
		n := float64(holding[text])
		return math.Log(1 + (float64(chunks)-n+0.5)/(n+0.5))
	}
	asked := map[string]float64{} // the weight of all terms
	for language, list := range terms {
		for _, term := range list {
			if !term.code {
				asked[language] += rarity(term.text)
			}
		}
	}
	average := float64(length) / float64(chunks)
	for i, lists := range postings {
		if len(lists) == 0 {
			continue
		}
		scores := make([]float64, s.sets[i].ChunkCount)
		shares := make([]float64, len(scores))
		found.scores[i], found.shares[i] = scores, shares
		for _, list := range lists {
			idf := rarity(list.text)
			list.addScores(scores, lengths[i], idf*float64(list.times), average)
			for _, one := range list.postings {
				if !list.code {
					shares[one.chunk] += idf
				}
			}
		}
		for chunk, score := range scores {
			if score > 0 {
				shares[chunk] /= asked[s.sets[i].Language]
				best.Add(score, s.first[i]+chunk)
			}
		}
	}
	found.best = best.Sorted()
	return found, nil
}

// addScores adds what the term gives to each chunk that holds it.
func (p setPostings) addScores(scores []float64, lengths []int32, weight, average float64) {
	const short = bm25K1 * (1 - bm25B)
	each := bm25K1 * bm25B / average
	for _, one := range p.postings {
		times := float64(one.times)
		scores[one.chunk] += weight * times * (bm25K1 + 1) / (times + short + each*float64(lengths[one.chunk]))
	}
}
