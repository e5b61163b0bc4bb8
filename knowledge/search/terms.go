package search

import (
	"cmp"
	"slices"

	"parlance.dev/parlance/platform/lexicon"
)

// queryTerm is a term of a question, and how often it occurs there.
type queryTerm struct {
	text  string
	times int
	// code says that it is another spelling of a code of the question, whose parts are terms too.
	code bool
}

// askedIn is the language of a question; where that cannot be told, that of most of what is
// searched.
func askedIn(question string, sets []Set) string {
	if language := lexicon.Detect(question); language != "" {
		return language
	}
	chunks, most := map[string]int{}, ""
	for _, set := range sets {
		chunks[set.Language] += set.ChunkCount
		if chunks[set.Language] > chunks[most] {
			most = set.Language
		}
	}
	return most
}

// queryTerms are a question's terms by language, in their order: a text is analysed by its own
// language, and so is the question for it.
type queryTerms map[string][]queryTerm

func termsOf(question string, sets []Set) queryTerms {
	terms, asked := queryTerms{}, askedIn(question, sets)
	for _, set := range sets {
		if _, done := terms[set.Language]; done || !set.HasWords {
			continue
		}
		list := []queryTerm{}
		for _, text := range slices.Sorted(slices.Values(lexicon.AnalyseQuestion(question, asked, set.Language))) {
			if last := len(list) - 1; last >= 0 && list[last].text == text {
				list[last].times++
				continue
			}
			list = append(list, queryTerm{text: text, times: 1})
		}
		for _, code := range codesIn(question) {
			if !slices.ContainsFunc(list, func(t queryTerm) bool { return t.text == code }) {
				list = append(list, queryTerm{text: code, times: 1, code: true})
			}
		}
		slices.SortFunc(list, func(a, b queryTerm) int { return cmp.Compare(a.text, b.text) })
		terms[set.Language] = list
	}
	return terms
}

// setPostings are the postings of a term in one set.
type setPostings struct {
	queryTerm
	postings []posting
}

// sortTerms orders lists by their terms, so that sums of the same numbers are the same.
func sortTerms(lists []setPostings) {
	slices.SortFunc(lists, func(a, b setPostings) int { return cmp.Compare(a.text, b.text) })
}
