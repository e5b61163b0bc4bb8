package extractive

import "parlance.dev/parlance/platform/lexicon"

// tongue is how the words of a language are compared: by package lexicon, or, in English and where
// the language cannot be told, by the stop words and endings of words.go. The zero value is
// English.
type tongue struct {
	code     string
	analyser *lexicon.Analyser
}

// tongueOf is that of a question.
func tongueOf(question string) tongue {
	code := lexicon.Detect(question)
	if code == "" || code == "en" {
		return tongue{code: code}
	}
	return tongue{code: code, analyser: lexicon.New(code)}
}

// stems is the set of stems in a text.
func (t tongue) stems(text string) map[string]bool {
	out := map[string]bool{}
	if t.analyser != nil {
		for _, term := range t.analyser.Terms(text) {
			out[term] = true
		}
		return out
	}
	for _, token := range tokens(text) {
		out[stem(token)] = true
	}
	return out
}

// contentWords are the distinct stems of a question's words that carry its subject, in order.
func (t tongue) contentWords(question string) []string {
	if t.analyser == nil {
		return contentWords(question)
	}
	var out []string
	seen := map[string]bool{}
	for _, term := range t.analyser.Terms(question) {
		if !seen[term] {
			seen[term] = true
			out = append(out, term)
		}
	}
	return out
}
