package search

import (
	"context"
	"math"

	"parlance.dev/parlance/platform/vector"
)

// BM25's constants. Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// rankByWords returns the chunks that hold a term of the question, best first and at most limit.
// How rare a word is, and how long a chunk usually is, is counted over exactly these sets.
func (s *search) rankByWords(ctx context.Context, limit int) ([]vector.Scored, error) {
	chunks, length := 0, int64(0)
	for _, set := range s.sets {
		if set.HasWords {
			chunks += set.ChunkCount
			length += set.TermCount
		}
	}
	if length == 0 {
		return nil, nil
	}
	terms := termsOf(s.question.Text, s.sets)
	postings, err := s.readPostings(ctx, terms)
	if err != nil {
		return nil, err
	}
	lengths, err := s.readLengths(ctx, postings)
	if err != nil {
		return nil, err
	}
	holding := map[string]int{}
	for _, lists := range postings {
		for _, list := range lists {
			holding[list.text] += len(list.postings)
		}
	}
	best := vector.NewTop(limit)
	average := float64(length) / float64(chunks)
	for i, lists := range postings {
		if len(lists) == 0 {
			continue
		}
		scores := make([]float64, s.sets[i].ChunkCount)
		for _, list := range lists {
			n := float64(holding[list.text])
			idf := math.Log(1 + (float64(chunks)-n+0.5)/(n+0.5))
			list.addScores(scores, lengths[i], idf*float64(list.times), average)
		}
		for chunk, score := range scores {
			if score > 0 {
				best.Add(score, s.first[i]+chunk)
			}
		}
	}
	return best.Sorted(), nil
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
