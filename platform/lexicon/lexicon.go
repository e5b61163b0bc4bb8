package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// Version is raised whenever a text's terms change.
const Version = 1

const (
	// maxTermBytes cuts what is no word but a blob of base64.
	maxTermBytes = 64
	// maxRemembered bounds the stems that an Analyser keeps, and those that the process keeps of a
	// language: as many words as a large dictionary has, in about 8 MB.
	maxRemembered = 1 << 16
)

// Analyser makes the terms of texts of one language. It remembers the words it has seen, and the
// process those of all, which makes long texts quick: stemming takes most of the time. It is not safe for concurrent use.
type Analyser struct {
	language language
	// terms are the terms of the words seen so far; "" for a stop word.
	terms map[string]string
}

// New makes an analyser for a language's code; unknown ones are treated as the empty one.
func New(code string) *Analyser {
	return &Analyser{language: languageOf(code), terms: map[string]string{}}
}

// Analyse is the terms of one text; see Analyser.Terms.
func Analyse(text, code string) []string { return New(code).Terms(text) }

// Terms are the terms of a text in reading order, repeated as often as they occur. A text of stop
// words has none.
func (a *Analyser) Terms(text string) []string {
	terms := make([]string, 0, len(text)/8)
	run := ""
	for it := words.FromString(normal(text)); it.Next(); {
		word := it.Value()
		first, _ := utf8.DecodeRuneInString(word)
		if unspaced(first) {
			run += word
			continue
		}
		terms, run = appendPairs(terms, run), ""
		if !strings.ContainsFunc(word, isWordRune) {
			continue
		}
		if term := a.term(word); term != "" {
			terms = append(terms, term)
		}
	}
	return appendPairs(terms, run)
}

// normal is the text as it is compared: compatible forms made one, in lower case.
func normal(text string) string { return strings.ToLower(norm.NFKC.String(text)) }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// term is a word's term; "" for a stop word.
func (a *Analyser) term(word string) string {
	if term, seen := a.terms[word]; seen {
		return term
	}
	term, known := a.language.known.Get(word)
	if !known {
		term = a.language.term(word)
		a.language.known.Put(word, term)
	}
	if len(a.terms) < maxRemembered {
		a.terms[strings.Clone(word)] = term
	}
	return term
}

func (l language) term(word string) string {
	if l.stops[word] {
		return ""
	}
	word = l.bare(word)
	if l.stops[word] || word == "" {
		return ""
	}
	if stem := l.stemmerOf(word); stem != nil {
		word = stem(word)
	}
	return clip(folded(word))
}

// bare takes off what is written to a word by an apostrophe: "museum's", "l'hôtel".
func (l language) bare(word string) string {
	word = strings.ReplaceAll(word, "’", "'")
	for _, suffix := range l.suffixes {
		word = strings.TrimSuffix(word, suffix)
	}
	if before, after, found := strings.Cut(word, "'"); found && after != "" && l.elided[before] {
		return after
	}
	return word
}

// folded is a Latin word without its accents, which people leave out when they ask; and ё as е.
func folded(word string) string {
	if ascii(word) {
		return word
	}
	out := make([]rune, 0, len(word))
	latin := false
	for _, r := range norm.NFD.String(word) {
		switch {
		case unicode.Is(unicode.Mn, r) && latin:
			continue
		case r == 'ß':
			out = append(out, 's', 's')
			continue
		case r == 'ø':
			r = 'o'
		case r == 'ı':
			r = 'i'
		}
		if !unicode.Is(unicode.Mn, r) {
			latin = unicode.Is(unicode.Latin, r)
		}
		out = append(out, r)
	}
	return strings.ReplaceAll(norm.NFC.String(string(out)), "ё", "е")
}

func ascii(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clip cuts a term at maxTermBytes, between characters.
func clip(term string) string {
	if len(term) <= maxTermBytes {
		return term
	}
	end := maxTermBytes
	for !utf8.RuneStart(term[end]) {
		end--
	}
	return term[:end]
}

// unspaced says whether a script writes words without spaces between them, or, as Korean, glues
// endings to them that pairs see through.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// appendPairs adds a run's pairs of neighbouring characters; a single character stands for itself.
func appendPairs(terms []string, run string) []string {
	if run == "" {
		return terms
	}
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		return append(terms, run)
	}
	for first < len(run) {
		_, second := utf8.DecodeRuneInString(run[first:])
		terms = append(terms, run[:first+second])
		run, first = run[first:], second
	}
	return terms
}
