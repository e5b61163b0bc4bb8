package extractive

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// blockStart begins a line that does not continue the one before: list item, heading, table,
	// quote.
	blockStart = regexp.MustCompile(`^\s*([-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>)`)
	heading    = regexp.MustCompile(`^\s*#{1,6}\s`)
	marker     = regexp.MustCompile(`^\s*(?:[-*+•]\s+|>\s*|\d{1,3}[.)]\s+)`)
	emphasis   = strings.NewReplacer("**", "", "__", "", "`", "")
)

// abbreviations end with a dot that ends no sentence.
var abbreviations = set(`e.g. i.e. etc. cf. vs. mr. mrs. ms. dr. prof. st. no. nr. approx. ca. z.b. d.h. bzw. fig. p. pp.`)

// sentences cuts Markdown or plain text into sentences, list items and table rows, in order,
// without markup. Headings are left out: the passage's Heading says them.
func sentences(text string) []string {
	var out []string
	for _, block := range blocks(text) {
		for _, s := range split(block) {
			s = strings.TrimSpace(emphasis.Replace(s))
			if strings.IndexFunc(s, unicode.IsLetter) >= 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// maxTitleWords is how long a line can be that reads as a heading whose markup was taken away.
const maxTitleWords = 8

// titled says whether a block of one plain line, followed by a blank one, is a heading that
// extraction left without its marks: a few words that no sentence's end closes.
func titled(block string, lines int) bool {
	last, _ := utf8.DecodeLastRuneInString(block)
	return lines == 1 && !unicode.IsPunct(last) && len(strings.Fields(block)) <= maxTitleWords
}

// blocks joins wrapped lines and cuts at blank lines and line-wise markup.
func blocks(text string) []string {
	var out []string
	open, plain := false, 0 // plain counts the lines of an open block without markup
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || heading.MatchString(line) {
			if open && titled(out[len(out)-1], plain) {
				out = out[:len(out)-1]
			}
			open = false
			continue
		}
		if open && !blockStart.MatchString(line) {
			out[len(out)-1] += " " + trimmed
			plain++
			continue
		}
		plain = 1
		if blockStart.MatchString(line) {
			plain = 2 // a list item or row is never a heading
		}
		out = append(out, strings.TrimSpace(marker.ReplaceAllString(line, "")))
		open = true
	}
	return out
}

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
