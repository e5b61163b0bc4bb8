package extractive

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"parlance.dev/parlance/provider/model"
)

// names are the stems that the passages write with a capital inside sentences, and never without.
func (t tongue) names(passages []model.Passage) map[string]bool {
	capital, small := map[string]bool{}, map[string]bool{}
	for _, p := range passages {
		for _, sentence := range sentences(p.Text) {
			for i, word := range strings.Fields(sentence) {
				word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
				if word == "" {
					continue
				}
				upper := unicode.IsUpper([]rune(word)[0])
				for stem := range t.stems(word) {
					capital[stem] = capital[stem] || upper && i > 0
					small[stem] = small[stem] || !upper
				}
			}
		}
	}
	maps.DeleteFunc(capital, func(stem string, seen bool) bool { return !seen || small[stem] })
	return capital
}

// german are words that only German questions have: its nouns are written as names are.
var german = set(`der das dem den des ein eine einen einem einer eines ist sind seid bin wie wann wo wer wen
wem wieso warum welche welcher welches
welchen und oder aber nicht kein keine keinen ich wir ihr ihre euch sie mein meine unser unsere gibt habt
habe haben kann kannst können muss müssen darf
für mit von vom zu zum zur auf im beim nach bei aus über unter noch auch bitte`)

var (
	// greetings may have a name behind them that is not asked about.
	greetings = set("hello hi hey dear thanks thank you good morning afternoon evening")
	// mayBeCapital are stop words that may have a capital within a sentence.
	mayBeCapital = set("i im ive id ill may will")
)

// askedNames are the words that a question writes with a capital although no sentence begins there:
// what it asks about. There are none where capitals say nothing: in German, and where all words
// have one, or function words do. What is said before or behind a question ("I am Anna. Do you …?")
// is not asked about.
func askedNames(text string) []string {
	parts := split(strings.TrimSpace(text))
	if slices.ContainsFunc(parts, isQuestion) {
		parts = slices.DeleteFunc(parts, func(part string) bool { return !isQuestion(part) })
	}
	var asked []string
	small := false
	for _, part := range parts {
		begins := true
		for _, raw := range strings.Fields(part) {
			word := strings.TrimFunc(raw, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if word == "" {
				continue
			}
			lower := strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(word))
			capital := unicode.IsUpper([]rune(word)[0])
			switch {
			case german[lower]:
				return nil
			case !capital:
				small = true
			case begins || mayBeCapital[lower]:
			case stopWords[lower] && !shortForms[word]:
				return nil
			default:
				asked = append(asked, word)
			}
			begins = begins && greetings[lower] || strings.HasSuffix(raw, ":")
		}
	}
	if !small {
		return nil
	}
	return asked
}

func isQuestion(sentence string) bool {
	return strings.HasSuffix(strings.TrimRight(sentence, `"'”’) `), "?")
}

// shortForms are names that would be stop words if they were small.
var shortForms = map[string]bool{"US": true, "IT": true}

// hasName says whether a passage, its source's name or its headings have a name of the question:
// all of its parts, or joined.
func (tongue) hasName(p model.Passage, name string) bool {
	text := whole(p)
	if shortForms[name] {
		return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return strings.TrimFunc(word, unicode.IsPunct) == name })
	}
	in := tongue{}.stems(text) // names have no endings of a language
	lacks := func(token string) bool { return !in[stem(token)] }
	parts := tokens(strings.ReplaceAll(name, "-", " "))
	return !slices.ContainsFunc(parts, lacks) || strings.Contains(name, "-") && !lacks(strings.ToLower(strings.ReplaceAll(name, "-", "")))
}

// answersFor says whether a passage may answer a question about the names: it is not about another
// one, by its source's name or headings.
func (q inquiry) answersFor(p model.Passage, asked []string) bool {
	if !slices.ContainsFunc(asked, func(name string) bool { return !q.tongue.hasName(p, name) }) {
		return true
	}
	for about := range q.tongue.stems(p.Source + "\n" + p.Heading) {
		if q.proper[about] && !slices.Contains(q.words, about) {
			return false
		}
	}
	return true
}
