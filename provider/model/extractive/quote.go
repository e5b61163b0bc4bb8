package extractive

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"parlance.dev/parlance/provider/model"
)

const (
	// maxSentences bounds a quote, and maxQuoteRunes its length.
	maxSentences  = 3
	maxQuoteRunes = 420
	// beginningRunes is how long the beginning of a section is that stands for it.
	beginningRunes = 300
	// titleSays is how much of the words that a section holds must be in its title for the section's
	// beginning to be the answer, and titleBegins for it to be a part of it.
	titleSays   = 0.8
	titleBegins = 0.5
	// numberValue is what a number counts in an answer to "How much …?"
	numberValue = 0.5
)

// quote is a passage's answer.
type quote struct {
	passage         int
	source, heading string
	pages           string
	text            string
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

// answer quotes a section. A title that asks, and holds nearly all of what was found, is the
// question, and what stands under it the answer: it is quoted from its beginning. Otherwise the
// sentence is quoted that has the weightiest of the words, and another that has words which it
// lacks. Sentences already said (chunks overlap) are passed over.
func (q inquiry) answer(s section, said map[string]bool) string {
	title := q.tongue.stems(s.title)
	inTitle := q.weightIn(title, nil)
	inAll := q.weightIn(q.tongue.stems(s.whole()), nil)
	best := q.best(s, title)
	chosen := []int{best}
	switch {
	case inTitle >= titleSays*inAll && (isQuestion(s.title) || q.weightIn(q.tongue.stems(s.units[best]), nil) == 0):
		chosen = beginning(s.units)
		if asksQuantity(q.text) && !slices.ContainsFunc(chosen, func(i int) bool { return hasNumber(s.units[i]) }) && hasNumber(s.units[best]) {
			chosen = append(chosen, best)
		}
	case inTitle >= titleBegins*inAll && best != 0:
		chosen = append(chosen, 0)
	}
	if strings.HasSuffix(s.units[best], ":") { // what a colon announces
		for i := best + 1; i < len(s.units) && len(chosen) < maxSentences; i++ {
			chosen = append(chosen, i)
		}
	}
	if second, ok := q.companion(s, title, chosen); ok && len(chosen) < maxSentences {
		chosen = append(chosen, second)
	}
	slices.Sort(chosen)
	return quoted(s.units, slices.Compact(chosen), said)
}

func hasNumber(text string) bool { return strings.ContainsFunc(text, unicode.IsDigit) }

// beginning are the first sentences, at least one.
func beginning(units []string) (chosen []int) {
	length := 0
	for i, unit := range units[:min(len(units), maxSentences)] {
		if length += len([]rune(unit)); i > 0 && length > beginningRunes {
			break
		}
		chosen = append(chosen, i)
	}
	return chosen
}

// best is the sentence of a section with the weightiest of the words; those that the title has
// count less.
func (q inquiry) best(s section, title map[string]bool) int {
	best, most := 0, 0.0
	for i, unit := range s.units {
		in := q.tongue.stems(unit)
		value := q.weightIn(in, title)*3/4 + q.weightIn(in, nil)/4
		if value > 0 && asksQuantity(q.text) && hasNumber(unit) {
			value += numberValue
		}
		if value > most {
			best, most = i, value
		}
	}
	return best
}

// companion is the sentence that has the weightiest of the words that neither the title nor a
// chosen sentence has.
func (q inquiry) companion(s section, title map[string]bool, chosen []int) (int, bool) {
	found := map[string]bool{}
	for stem := range title {
		found[stem] = true
	}
	for _, i := range chosen {
		for stem := range q.tongue.stems(s.units[i]) {
			found[stem] = true
		}
	}
	second, most := 0, 0.0
	for i, unit := range s.units {
		if value := q.weightIn(q.tongue.stems(unit), found); value > most && !slices.Contains(chosen, i) {
			second, most = i, value
		}
	}
	return second, most > 0
}

// quoted joins sentences; what is left out between them is marked.
func quoted(units []string, chosen []int, said map[string]bool) string {
	if said[units[chosen[0]]] {
		return ""
	}
	var out strings.Builder
	last := -1
	for _, i := range chosen {
		if said[units[i]] {
			continue
		}
		said[units[i]] = true
		switch {
		case last >= 0 && i != last+1:
			out.WriteString(" … ")
		case last >= 0:
			out.WriteString(" ")
		}
		out.WriteString(units[i])
		last = i
	}
	return shortened(out.String())
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
