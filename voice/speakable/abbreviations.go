package speakable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAbbreviation is the length in bytes of the longest abbreviation, with its spaces.
const maxAbbreviation = 16

// maxWithoutDot is the length in bytes of the longest one that ends with a letter: "Mme", "t/m".
const maxWithoutDot = 3

// shortened says what an abbreviation means. The longest that fits is taken: "z. B." before "z.".
func shortened(s *speaker, i int) (int, string) {
	rest := s.in[i:]
	length, found := 0, abbreviation{}
	for end, r := range rest[:min(len(rest), maxAbbreviation)] {
		if !isWordRune(r) && !strings.ContainsRune(" \u00a0.-/’'º°", r) {
			break
		}
		end += utf8.RuneLen(r)
		if !strings.ContainsRune("./º°", r) && (end > maxWithoutDot || !s.wholeWord(i+end)) {
			continue
		}
		a, ok := s.abbreviations[abbreviationKey(rest[:end])]
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest[end:], " \u00a0"))
		if ok && a.say != "" && a.before.holds(next) && (r == '.' || r == '/' || s.wholeWord(i+end)) {
			length, found = end, a
		}
	}
	if length == 0 {
		return 0, ""
	}
	say := found.say
	if first, _ := utf8.DecodeRuneInString(rest); unicode.IsUpper(first) && s.beginsSentence(i) {
		say = capitalized(say)
	}
	if found.ends && strings.HasSuffix(rest[:length], ".") && s.ends(i+length) {
		say += "."
	}
	return length, say
}

// beginsSentence reports whether i is the beginning of the piece or follows the end of a sentence.
func (s *speaker) beginsSentence(i int) bool {
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s.in[:i], " \"“„«("))
	return before == utf8.RuneError || strings.ContainsRune(".!?", before)
}

func capitalized(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}
