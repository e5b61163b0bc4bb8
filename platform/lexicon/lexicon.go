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
	// maxCachedTerms bounds the words of a language whose terms the process caches: as many as a
	// large dictionary has, in about 16 MB. Longer words than maxTermBytes are not cached.
	maxCachedTerms = 1 << 16
)

// Analyser makes the terms of texts of one language. All analysers of a language share a cache of
// terms, because stemming takes most of the time. It is safe for concurrent use.
type Analyser struct {
	language language
	// asked is the language of a question; its stop words are left out too.
	asked language
}

// New returns an analyser for a language code. An unknown code is treated as the empty one.
func New(code string) *Analyser { return &Analyser{language: languageOf(code)} }

// AnalyseQuestion returns the terms of a question in one language as texts of another have them.
// The stop words of both are left out: "which" is rare in a Spanish text, and says as little.
func AnalyseQuestion(question, asked, code string) []string {
	a := Analyser{language: languageOf(code), asked: languageOf(asked)}
	return a.Terms(question)
}

// Analyse returns the terms of one text; see Analyser.Terms.
func Analyse(text, code string) []string { return New(code).Terms(text) }

// Terms are the terms of a text in reading order, repeated as often as they occur. A text of stop
// words has none.
func (a *Analyser) Terms(text string) []string {
	return a.AppendTerms(make([]string, 0, len(text)/8), text)
}

// AppendTerms adds the terms of a text to others.
func (a *Analyser) AppendTerms(terms []string, text string) []string {
	run := ""
	rules := words.FromString("")
	for text = normal(text); text != ""; {
		end := asciiWordEnd(text)
		if end == 0 {
			end = wordEnd(rules, text)
		}
		word := text[:end]
		text = text[end:]
		first, _ := utf8.DecodeRuneInString(word)
		if unspaced(first) {
			run += word
			continue
		}
		if run != "" {
			terms, run = appendPairs(terms, run), ""
		}
		if first == ' ' || !strings.ContainsFunc(word, isWordRune) {
			continue
		}
		if a.asked.isStop(word) {
			continue
		}
		if term := a.language.cachedTerm(word); term != "" {
			terms = append(terms, term)
		}
	}
	return appendPairs(terms, run)
}

// wordEnd is where the first word of a text ends by the rules of Unicode (UAX 29), or what stands
// between words.
func wordEnd(rules *words.Iterator[string], text string) int {
	rules.SetText(text)
	if !rules.Next() {
		return len(text)
	}
	return rules.End()
}

// asciiWordEnd is wordEnd of what most words are: a space, or ASCII letters up to a space, a line's
// end, or a mark that joins nothing. 0: it is something else.
func asciiWordEnd(text string) int {
	if text[0] == ' ' && len(text) > 1 && text[1] > ' ' && text[1] < utf8.RuneSelf {
		return 1
	}
	end := 0
	for end < len(text) && text[end] >= 'a' && text[end] <= 'z' {
		end++
	}
	rest := text[end:]
	if rest != "" && (rest[0] == '.' || rest[0] == ':') { // joins what has letters on both sides
		rest = rest[1:]
	}
	if rest == "" || rest[0] == ' ' || rest[0] == '\n' || rest[0] == ',' {
		return end
	}
	return 0
}

// normal is the text as it is compared: compatible forms made one, in lower case.
func normal(text string) string {
	if !ascii(text) {
		text = norm.NFKC.String(text)
	}
	return strings.ToLower(text)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// cachedTerm is term with the cache in front of it.
func (l language) cachedTerm(word string) string {
	if len(word) > maxTermBytes {
		return l.term(word)
	}
	term, ok := l.terms.Get(word)
	if !ok {
		term = l.term(word)
		l.terms.Set(strings.Clone(word), strings.Clone(term))
	}
	return term
}

// term returns the term of a word; "" for a stop word.
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

// isStop reports whether the word, or what stands before or behind its apostrophe, says nothing.
func (l language) isStop(word string) bool {
	return l.stops[word] || len(l.stops) > 0 && l.stops[l.bare(word)]
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
