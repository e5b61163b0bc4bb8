package speakable

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// maxLookahead is how many characters after the longest piece are looked at to decide whether a
// sentence ends in it. Unicode's rule needs the next letter: it continues the sentence if it is in
// lower case.
const maxLookahead = 40

// sentenceEnd is the first end of a sentence in text from least to limit, or 0. complete is false
// when text may go on.
func (l *language) sentenceEnd(text string, least, limit int, complete bool) int {
	end := 0
	for iter := sentences.FromString(text); iter.Next(); {
		end += len(iter.Value())
		switch {
		case end > limit:
			return 0
		case end < least || end == len(text):
			continue
		case !complete && !decided(text[end:]):
			return 0
		case l.endsSentence(text, end):
			return end
		}
	}
	return 0
}

// decided reports whether what follows a boundary tells if it ends a sentence: see maxLookahead.
func decided(rest string) bool {
	return strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Sentence_Terminal, r) })
}

// endsSentence reports whether a boundary that Unicode sees is one: not after "Dr.", not in German
// after the ordinal of "5. Mai", not within "v2.Beta", and not before the "she" of "Stop!" she
// said.
func (l *language) endsSentence(text string, end int) bool {
	before := strings.TrimRight(text[:end], " \u00a0")
	if len(before) == end { // no space: only the full stops of scripts without spaces
		r, _ := utf8.DecodeLastRuneInString(before)
		return r >= utf8.RuneSelf
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], " \u00a0"))
	if !strings.HasSuffix(before, ".") {
		return !unicode.IsLower(next) // "Stop!" she said
	}
	token := strings.TrimLeftFunc(before[strings.LastIndexAny(before, " \u00a0")+1:], func(r rune) bool { return !isWordRune(r) })
	stem := strings.TrimSuffix(token, ".")
	switch {
	case isInitial(stem):
		return false
	case l.ordinalDot && isOrdinal(stem):
		return false
	case unicode.IsDigit(next) && l.hasAbbreviation(before):
		return false
	}
	return !l.continues(before, next)
}

// isInitial reports whether a word is a single letter, as in "J. Smith" and "z. B.": not "I".
func isInitial(stem string) bool {
	r, size := utf8.DecodeRuneInString(stem)
	return size > 0 && size == len(stem) && unicode.IsLetter(r) && r != 'I' && r < 0x2E80
}

// isOrdinal reports whether a word is a day ("5") or a day and a month ("5.11").
func isOrdinal(stem string) bool {
	for part := range strings.SplitSeq(stem, ".") {
		if part == "" || len(part) > 2 || strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return true
}

// firstClause is the first end of a clause in text from least to limit, or 0.
func firstClause(text string, least, limit int, complete bool) int {
	for i, r := range text {
		end := clauseEnd(text, i, r)
		switch {
		case i > limit:
			return 0
		case end == 0 || end < least || end > limit:
			continue
		case !complete && !decided(text[end:]):
			return 0
		}
		return end
	}
	return 0
}

// lastClause is the last end of a clause in text from least to limit, or 0.
func lastClause(text string, least, limit int) int {
	last := 0
	for i, r := range text[:limit] {
		if end := clauseEnd(text, i, r); end >= least && end <= limit {
			last = max(last, end)
		}
	}
	return last
}

// clauseEnd is where a clause ends that the character at i ends, with the spaces after it, or 0.
// A comma between two digits is part of an enumeration or a number.
func clauseEnd(text string, i int, r rune) int {
	end := i + utf8.RuneLen(r)
	switch r {
	case '，', '、', '；', '：':
		return end
	case '—':
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); !unicode.IsLetter(before) && before != ' ' {
			return 0
		}
	case ',', ';', ':', '–', '-':
		if !strings.HasPrefix(text[end:], " ") {
			return 0
		}
		if (r == '–' || r == '-') && !strings.HasSuffix(text[:i], " ") {
			return 0
		}
	default:
		return 0
	}
	rest := strings.TrimLeft(text[end:], " ")
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text[:i], " "))
	after, _ := utf8.DecodeRuneInString(rest)
	if unicode.IsDigit(before) && unicode.IsDigit(after) {
		return 0
	}
	return len(text) - len(rest)
}
