package knowledge

import (
	"cmp"
	"math"
	"slices"

	"parlance.dev/parlance/platform/lexicon"
)

// BM25's constants. Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// wordHit is a chunk that holds words of the question.
type wordHit struct {
	// source is the place in the list of sources that were searched.
	source int
	chunk  int
	score  float64
}

// wordSource is a source that words are looked for in.
type wordSource struct {
	SourceID   SourceID `bun:"source_id"`
	Number     int64    `bun:"number"`
	Language   string   `bun:"language"`
	ChunkCount int      `bun:"chunk_count"`
	TermCount  int64    `bun:"term_count"`
	PageCount  int      `bun:"page_count"`
	Lengths    []byte   `bun:"lengths"`
}

// questionWords are a question's terms by language, with how often each occurs: a text is analysed
// by its own language, and so the question for it.
type questionWords map[string]map[string]int

func wordsOf(question string, sources []wordSource) questionWords {
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
// is counted over exactly these sources.
func rankByWords(sources []wordSource, words questionWords, postings termPostings, limit int) ([]wordHit, error) {
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
	lengths := make([][]int32, len(sources))
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
				var err error
				if lengths[p.source], err = readLengths(source.Lengths, source.ChunkCount); err != nil {
					return nil, err
				}
				scores[p.source] = make([]float64, source.ChunkCount)
			}
			weight := idf * float64(words[source.Language][term])
			for _, one := range p.list {
				times, length := float64(one.times), float64(lengths[p.source][one.chunk])
				scores[p.source][one.chunk] += weight * times * (bm25K1 + 1) / (times + bm25K1*(1-bm25B+bm25B*length/average))
			}
		}
	}
	return bestHits(sources, scores, limit), nil
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

func bestHits(sources []wordSource, scores [][]float64, limit int) []wordHit {
	order := func(a, b wordHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(sources[a.source].SourceID, sources[b.source].SourceID), cmp.Compare(a.chunk, b.chunk))
	}
	var hits []wordHit
	floor := 0.0 // what a hit must exceed once there are enough
	for source, of := range scores {
		for chunk, score := range of {
			if score <= 0 || score < floor {
				continue
			}
			if hits = append(hits, wordHit{source, chunk, score}); len(hits) >= 8*limit {
				slices.SortFunc(hits, order)
				hits = hits[:limit]
				floor = hits[limit-1].score
			}
		}
	}
	slices.SortFunc(hits, order)
	return hits[:min(limit, len(hits))]
}
