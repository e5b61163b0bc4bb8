package search

import "parlance.dev/parlance/platform/lexicon"

// queryTerms are a question's terms by language, with how often each occurs: a text is analysed by
// its own language, and so is the question for it.
type queryTerms map[string]map[string]int

func termsOf(question string, sets []Set) queryTerms {
	terms := queryTerms{}
	for _, set := range sets {
		if _, done := terms[set.Language]; done || !set.HasWords {
			continue
		}
		counts := map[string]int{}
		for _, term := range lexicon.Analyse(question, set.Language) {
			counts[term]++
		}
		terms[set.Language] = counts
	}
	return terms
}

// setPostings are the postings of one term in one set.
type setPostings struct {
	term     string
	postings []posting
}
