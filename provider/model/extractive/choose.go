package extractive

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"parlance.dev/parlance/provider/model"
)

const (
	// maxQuotes bounds an answer.
	maxQuotes = 3
	// minCoverage is the share of the question's content words that a passage must hold, and
	// minSection that the section must hold that is quoted: of two words one is not enough.
	minCoverage = 0.65
	minSection  = 0.51
	// titleWeight is what a match in the title of a section, or the nearest heading, counts: it says
	// that the section is about the word, not only that the word occurs. Names of things do not count
	// more: a knowledge base about Acme has Acme in every heading. A match in other headings and the
	// source's name counts pathWeight.
	titleWeight = 1.34
	pathWeight  = 0.5
	// sentenceWeight is what words count that stand together in one sentence.
	sentenceWeight = 0.5
	// besideBest is the share of the best section's score under which others are not quoted.
	besideBest = 0.9
)

// inquiry is a question and what its words weigh among the passages.
type inquiry struct {
	tongue tongue
	text   string
	words  []string
	// weights are by how few sections hold a word: one that all of them share says little about which
	// of them answers.
	weights map[string]float64
	// proper are the names that the passages have.
	proper map[string]bool
	// sections are those of each passage.
	sections [][]section
}

// candidate is a section that holds enough of the question.
type candidate struct {
	at      int
	score   float64
	passage model.Passage
	section section
}

// choose picks the quotes that bear on a question of these words, the strongest first. A passage
// without the word that says what is asked for (its focus, if there is one) is about something
// else: "Which lawyer wrote the lease?" Nobody knows about a name that no passage has: "How long is
// the warranty of the Borealis?" Numbers alone are about nothing.
func choose(t tongue, question string, words []string, passages []model.Passage) []quote {
	asked := askedNames(question)
	if !slices.ContainsFunc(words, hasLetter) || slices.ContainsFunc(asked, func(name string) bool {
		return !slices.ContainsFunc(passages, func(p model.Passage) bool { return t.hasName(p, name) })
	}) {
		return nil
	}
	q := inquiry{tongue: t, text: question, words: words, proper: t.names(passages)}
	for _, p := range passages {
		q.sections = append(q.sections, sections(p.Text))
	}
	q.weigh()
	candidates := q.candidates(passages, asked)
	// The best score first; among equals the nearer in meaning, which is the given order.
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var quotes []quote
	said := map[string]bool{}
	for _, c := range candidates {
		if len(quotes) == maxQuotes || c.score < candidates[0].score*besideBest {
			break
		}
		if text := q.answer(c.section, said); text != "" {
			quotes = append(quotes, quote{
				passage: c.at, source: c.passage.Source, heading: under(c.passage.Heading, c.section.title), pages: pagesOf(c.passage), text: text,
			})
		}
	}
	return quotes
}

// candidates are the sections that hold enough of the words, in passages that may answer.
func (q inquiry) candidates(passages []model.Passage, asked []string) (all []candidate) {
	focus := focusOf(q.text)
	for i, p := range passages {
		if q.share(whole(p)) < minCoverage || focus != "" && !q.tongue.stems(whole(p))[focus] || !q.answersFor(p, asked) {
			continue
		}
		above := q.tongue.stems(p.Source + "\n" + p.Heading)
		for _, s := range q.sections[i] {
			if len(s.units) > 0 && q.ownShare(s, above) >= minSection {
				all = append(all, candidate{i, q.score(p, s, above), p, s})
			}
		}
	}
	return all
}

// whole is all that a passage says, and where it stands.
func whole(p model.Passage) string { return p.Source + "\n" + p.Heading + "\n" + p.Text }

// under is a path of headings with a title below it, unless it ends in that.
func under(path, title string) string {
	switch {
	case path == "":
		return title
	case title == "" || strings.Contains(path, title):
		return path
	}
	return path + " > " + title
}

func (q *inquiry) weigh() {
	holders := map[string]int{}
	for _, ofPassage := range q.sections {
		for _, s := range ofPassage {
			in := q.tongue.stems(s.whole())
			for _, w := range q.words {
				if in[w] {
					holders[w]++
				}
			}
		}
	}
	q.weights = map[string]float64{}
	for _, w := range q.words {
		q.weights[w] = 1 + 1/float64(max(holders[w], 1))
	}
}

// weightIn is the weight of the words that are among stems and not among others.
func (q inquiry) weightIn(stems, others map[string]bool) (sum float64) {
	for _, w := range q.words {
		if stems[w] && !others[w] {
			sum += q.weights[w]
		}
	}
	return sum
}

// share is the share of the words that a text holds.
func (q inquiry) share(text string) float64 {
	in, held := q.tongue.stems(text), 0
	for _, w := range q.words {
		if in[w] {
			held++
		}
	}
	return float64(held) / float64(len(q.words))
}

// ownShare is the share of the words that a section holds itself. Words of the headings above it
// and of the source's name, which all of its sections share, count only where they hold all.
func (q inquiry) ownShare(s section, above map[string]bool) float64 {
	in, held, all := q.tongue.stems(s.whole()), 0, 0
	for _, w := range q.words {
		switch {
		case in[w]:
			held++
			all++
		case !above[w]:
			all++
		}
	}
	if all == 0 {
		return 1
	}
	return float64(held) / float64(all)
}

// score is how much of the words a section and the headings above it hold, weighted; it may exceed
// 1.
func (q inquiry) score(p model.Passage, s section, above map[string]bool) float64 {
	path := strings.Split(p.Heading, ">")
	title, text := q.tongue.stems(s.title), q.tongue.stems(strings.Join(s.units, "\n"))
	if s.title == "" {
		title = q.tongue.stems(path[len(path)-1])
	}
	sum, most := 0.0, 0.0
	for _, w := range q.words {
		most += q.weights[w]
		switch {
		case title[w] && !q.proper[w]:
			sum += titleWeight * q.weights[w]
		case text[w] || title[w]:
			sum += q.weights[w]
		case above[w]:
			sum += pathWeight * q.weights[w]
		}
	}
	closest := 0.0
	for _, unit := range s.units {
		closest = max(closest, q.weightIn(q.tongue.stems(unit), nil))
	}
	return (sum + sentenceWeight*closest) / most
}

func hasLetter(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
