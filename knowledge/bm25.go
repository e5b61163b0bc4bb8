package knowledge

import (
	"fmt"
	"math"
	"slices"

	"parlance.dev/parlance/platform/lexicon"
)

// BM25's constants. Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// questionWords are a question's terms by language, with how often each occurs: a text is analysed
// by its own language, and so the question for it.
type questionWords map[string]map[string]int

func wordsOf(question string, sources []visible) questionWords {
	words := questionWords{}
	for _, source := range sources {
		if _, done := words[source.Language]; done {
			continue
		}
		counts := map[string]int{}
		for _, term := range lexicon.Analyse(question, source.Language) {
			counts[term]++
		}
		words[source.Language] = counts
	}
	return words
}

// terms are those of all languages, in an order, so that sums of the same numbers are the same.
func (w questionWords) terms() []string {
	var terms []string
	for _, counts := range w {
		for term := range counts {
			terms = append(terms, term)
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// termPostings are the postings of the question's terms by term, each source's own.
type termPostings map[string][]sourcePostings

// sourcePostings are packed, of so many chunks.
type sourcePostings struct {
	source int
	count  int
	packed []byte
}

// rankByWords scores the chunks that hold a term of the question, best first and at most limit;
// equal ones in the order of source and place. How rare a word is, and how long a chunk usually is,
// is counted over exactly these sources; lengths are their chunks', of those that have postings.
func rankByWords(sources []visible, lengths [][]int32, words questionWords, postings termPostings, limit int) ([]candidate, error) {
	chunks, terms := 0, int64(0)
	for _, source := range sources {
		chunks += source.ChunkCount
		terms += source.TermCount
	}
	if terms == 0 {
		return nil, nil
	}
	average := float64(terms) / float64(chunks)
	scores := make([][]float64, len(sources))
	for _, term := range sortedTerms(postings) {
		lists := postings[term]
		holding := 0
		for _, p := range lists {
			holding += p.count
		}
		idf := math.Log(1 + (float64(chunks)-float64(holding)+0.5)/(float64(holding)+0.5))
		for _, p := range lists {
			source := sources[p.source]
			if scores[p.source] == nil {
				scores[p.source] = make([]float64, source.ChunkCount)
			}
			weight := idf * float64(words[source.Language][term])
			of, long := scores[p.source], lengths[p.source]
			postings, chunk := unpacker{rest: p.packed}, 0
			for range p.count {
				chunk += postings.number(source.ChunkCount)
				times := float64(postings.number(maxTimes))
				if postings.bad || chunk >= len(of) || chunk >= len(long) {
					return nil, fmt.Errorf("postings of %s: %w", source.SourceID, errPacked)
				}
				of[chunk] += weight * times * (bm25K1 + 1) / (times + bm25K1*(1-bm25B+bm25B*float64(long[chunk])/average))
			}
		}
	}
	best := newBest(sources, limit)
	for source, of := range scores {
		for chunk, score := range of {
			if score > 0 && score >= best.floor {
				best.add(candidate{source, chunk, score})
			}
		}
	}
	return best.sorted(), nil
}

// sortedTerms are in an order, so that sums of the same numbers are the same.
func sortedTerms(postings termPostings) []string {
	terms := make([]string, 0, len(postings))
	for term := range postings {
		terms = append(terms, term)
	}
	slices.Sort(terms)
	return terms
}
