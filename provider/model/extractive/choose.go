package extractive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"parlance.dev/parlance/provider/model"
)

const (
	// maxQuotes bounds an answer, maxSentences a quote, maxQuoteRunes its length.
	maxQuotes     = 3
	maxSentences  = 2
	maxQuoteRunes = 420
	// minCoverage is the share of the question's content words that a passage must hold.
	minCoverage = 0.65
	// headingWeight is what a match in the nearest heading counts: it says that the passage is
	// about the word, not only that the word occurs. Names of things do not count more: a
	// knowledge base about Acme has Acme in every heading.
	headingWeight = 1.34
	// besideBest is the share of the best passage's coverage under which others are not quoted.
	besideBest = 0.75
)

// quote is a passage's answer.
type quote struct {
	passage         int
	source, heading string
	pages           string
	text            string
	// strength is the weight of the question's words that the quoted sentences hold.
	strength float64
}

func (q quote) String() string {
	place := strings.Join(slices.DeleteFunc([]string{q.heading, q.pages}, func(s string) bool { return s == "" }), ", ")
	if place == "" {
		return fmt.Sprintf("From “%s”: “%s”", q.source, q.text)
	}
	return fmt.Sprintf("From “%s” (%s): “%s”", q.source, place, q.text)
}

// pagesOf names the pages of a passage.
func pagesOf(p model.Passage) string {
	switch {
	case p.PageStart == 0:
		return ""
	case p.PageEnd <= p.PageStart:
		return fmt.Sprintf("page %d", p.PageStart)
	}
	return fmt.Sprintf("pages %d–%d", p.PageStart, p.PageEnd)
}

// candidate is a passage that holds enough of the question.
type candidate struct {
	at       int
	coverage float64
	passage  model.Passage
}

// choose picks the quotes that bear on a question of these words, the strongest first. A passage
// without the word that says what is asked for (its focus, if there is one) is about something
// else: "Which lawyer wrote the lease?" Nobody knows about a name that no passage has: "How long is
// the warranty of the Borealis?" Numbers alone are about nothing.
func choose(question string, words []string, passages []model.Passage) []quote {
	asked, focus := askedNames(question), focusOf(question)
	if !slices.ContainsFunc(words, hasLetter) || slices.ContainsFunc(asked, func(name string) bool {
		return !slices.ContainsFunc(passages, func(p model.Passage) bool { return hasName(p, name) })
	}) {
		return nil
	}
	var candidates []candidate
	best, proper := 0.0, names(passages)
	for i, p := range passages {
		share, c := coverage(words, p, proper)
		if share >= minCoverage && (focus == "" || holds(p, focus)) && answersFor(p, asked, words, proper) {
			candidates = append(candidates, candidate{i, c, p})
			best = max(best, c)
		}
	}
	// The best coverage first; among equals the nearer in meaning, which is the given order.
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.coverage, a.coverage) })
	weights := rarity(words, passages)
	var quotes []quote
	said := map[string]bool{}
	for _, c := range candidates {
		if len(quotes) == maxQuotes || c.coverage < best*besideBest {
			break
		}
		text, strength := bestSentences(words, weights, c.passage, said)
		if text == "" {
			continue
		}
		quotes = append(
			quotes,
			quote{passage: c.at, source: c.passage.Source, heading: c.passage.Heading, pages: pagesOf(c.passage), text: text, strength: strength},
		)
	}
	slices.SortStableFunc(quotes, func(a, b quote) int { return cmp.Compare(b.strength, a.strength) })
	return slices.DeleteFunc(quotes, func(q quote) bool { return q.strength < quotes[0].strength*besideBest })
}

// rarity weighs each word by how few passages hold it: the word that all of them share says
// little about which sentence answers.
func rarity(words []string, passages []model.Passage) map[string]float64 {
	holders := map[string]int{}
	for _, p := range passages {
		in := stems(p.Text)
		for _, w := range words {
			if in[w] {
				holders[w]++
			}
		}
	}
	weights := map[string]float64{}
	for _, w := range words {
		weights[w] = 1 + 1/float64(max(holders[w], 1))
	}
	return weights
}

// coverage is the share of the words that stand in the passage, its source's name or its headings,
// and the same weighted, which may exceed 1: a word in a heading does not stand for one that is
// missing.
func coverage(words []string, p model.Passage, proper map[string]bool) (share, weighted float64) {
	path := strings.Split(p.Heading, ">")
	nearest := stems(path[len(path)-1])
	anywhere := stems(p.Source + "\n" + p.Heading + "\n" + p.Text)
	for _, w := range words {
		switch {
		case nearest[w] && !proper[w]:
			share++
			weighted += headingWeight
		case anywhere[w]:
			share++
			weighted++
		}
	}
	return share / float64(len(words)), weighted / float64(len(words))
}

func hasLetter(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }

// holds says whether a passage, its source's name or its headings have a word.
func holds(p model.Passage, stem string) bool {
	return stems(p.Source + "\n" + p.Heading + "\n" + p.Text)[stem]
}

// bestSentences are the one or two sentences with the weightiest of the words, in their order in
// the text, and their strength. Sentences already said (chunks overlap) are passed over. When
// only headings matched, the text's beginning stands for it.
func bestSentences(words []string, weights map[string]float64, p model.Passage, said map[string]bool) (text string, strength float64) {
	all := withoutHeadings(sentences(p.Text), p.Heading)
	scores := make([]float64, len(all))
	best, found := 0, map[string]bool{}
	for i, s := range all {
		in := stems(s)
		for _, w := range words {
			if in[w] {
				scores[i] += weights[w]
				found[w] = true
			}
		}
		if scores[i] > scores[best] {
			best = i
		}
	}
	if len(all) == 0 || said[all[best]] {
		return "", 0
	}
	total := 0.0
	for _, w := range words { // in the order of the scores' sums, so that equal sums are equal
		if found[w] {
			total += weights[w]
		}
	}
	chosen := []int{best}
	if second, ok := companion(all, scores, best, total); ok && !said[all[second]] {
		chosen = append(chosen, second)
	}
	slices.Sort(chosen)
	said[all[best]] = true
	out := all[chosen[0]]
	if len(chosen) == maxSentences {
		gap := " "
		if chosen[1] != chosen[0]+1 {
			gap = " … "
		}
		said[all[chosen[1]]] = true
		out += gap + all[chosen[1]]
	}
	return shortened(out), scores[best]
}

// withoutHeadings leaves out the sentences that are headings of the passage, which extracted text
// holds as lines of their own; the quote names them anyway.
func withoutHeadings(all []string, path string) []string {
	headings := map[string]bool{}
	for part := range strings.SplitSeq(path, ">") {
		headings[strings.TrimSpace(part)] = true
	}
	return slices.DeleteFunc(all, func(s string) bool { return headings[s] })
}

// companion is a second sentence worth quoting: what a colon announces, else the best other
// one when the first does not hold all the words that the text has.
func companion(all []string, scores []float64, best int, found float64) (int, bool) {
	if strings.HasSuffix(all[best], ":") && best+1 < len(all) {
		return best + 1, true
	}
	if scores[best] >= found {
		return 0, false
	}
	second := -1
	for i, score := range scores {
		if i != best && score > 0 && (second < 0 || score > scores[second]) {
			second = i
		}
	}
	return second, second >= 0
}

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= maxQuoteRunes {
		return text
	}
	cut := string(runes[:maxQuoteRunes])
	if i := strings.LastIndex(cut, " "); i > 0 {
		cut = cut[:i]
	}
	return cut + " …"
}
