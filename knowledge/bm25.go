package knowledge

import (
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

// termPostings are the postings of the question's terms by term, each source's own.
type termPostings map[string][]sourcePostings

type sourcePostings struct {
	source int
	list   []posting
}

// rankByWords scores the chunks that hold a term of the question, best first and at most limit;
// equal ones in the order of source and place. How rare a word is, and how long a chunk usually is,
// is counted over exactly these sources; lengths are their chunks', of those that have postings.
func rankByWords(sources []visible, lengths [][]int32, words questionWords, postings termPostings, limit int) []candidate {
	chunks, terms := 0, int64(0)
	for _, source := range sources {
		chunks += source.ChunkCount
		terms += source.TermCount
	}
	if terms == 0 {
		return nil
	}
	average := float64(terms) / float64(chunks)
	scores := make([][]float64, len(sources))
	for _, term := range sortedTerms(postings) {
		lists := postings[term]
		holding := 0
		for _, p := range lists {
			holding += len(p.list)
		}
		idf := math.Log(1 + (float64(chunks)-float64(holding)+0.5)/(float64(holding)+0.5))
		for _, p := range lists {
			source := sources[p.source]
			if scores[p.source] == nil {
				scores[p.source] = make([]float64, source.ChunkCount)
			}
			weight := idf * float64(words[source.Language][term])
			for _, one := range p.list {
				times, length := float64(one.times), float64(lengths[p.source][one.chunk])
				scores[p.source][one.chunk] += weight * times * (bm25K1 + 1) / (times + bm25K1*(1-bm25B+bm25B*length/average))
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
	return best.sorted()
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
