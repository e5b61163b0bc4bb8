package lexicon

import (
	_ "embed"
	"strings"
)

// stopsText has stop words after the code of their language: words of nearly every text, which say
// nothing about its subject and much about its language. Question words are among them. A change
// of the words changes Version.
//
//go:embed stopwords.txt
var stopsText string

// stops are the stop words by the code of their language.
var stops = func() map[string]map[string]bool {
	byCode := map[string]map[string]bool{}
	for line := range strings.Lines(stopsText) {
		code, words, _ := strings.Cut(line, " ")
		if byCode[code] == nil {
			byCode[code] = map[string]bool{}
		}
		for word := range strings.FieldsSeq(words) {
			byCode[code][word] = true
		}
	}
	return byCode
}()
