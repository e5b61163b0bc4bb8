package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviations end with a dot that ends no sentence.
var abbreviations = set(`e.g. i.e. etc. cf. vs. mr. mrs. ms. dr. prof. st. no. nr. approx. ca. z.b. d.h. bzw. fig. p. pp.`)

// split cuts after . ! ? … and white space, unless an abbreviation or an initial precedes or a
// lower-case letter follows.
func split(block string) []string {
	var out []string
	from := 0
	for i, r := range block {
		if !strings.ContainsRune(".!?…。", r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		rest := strings.TrimLeft(block[end:], `"'”’)`)
		end = len(block) - len(rest)
		if end < from || rest == "" || (r != '。' && rest[0] != ' ') || continues(block[from:end], rest) {
			continue
		}
		out = append(out, block[from:end])
		from = end
	}
	return append(out, block[from:])
}

func continues(before, rest string) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	if unicode.IsLower(next) {
		return true
	}
	word := strings.ToLower(before[strings.LastIndex(before, " ")+1:])
	return abbreviations[strings.TrimLeft(word, `("“`)]
}
