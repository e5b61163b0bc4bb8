package speakable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// symbol says a character that is in no word, and returns its length.
func (s *speaker) symbol(i int, r rune, size int) int {
	before, _ := utf8.DecodeLastRuneInString(s.in[:i])
	after, _ := utf8.DecodeRuneInString(s.in[i+size:])
	isSaid := s.symbols[r] != "" && isSaid(r, before, s.afterSpace(i+size))
	switch {
	case r == ' ' || r == '\u00a0':
		s.write(" ")
	case strings.ContainsRune(".,;:!?…", r):
		s.punctuation(r)
	case strings.ContainsRune("-–—−", r):
		s.hyphen(i, size, before, after)
	case strings.ContainsRune("|•→⇒➜", r), r == '>' && !isSaid: // "Settings > Wi-Fi"
		s.punctuation(',')
		s.write(" ")
	case r == '/' && unicode.IsDigit(before) && unicode.IsDigit(after) && s.in[max(0, i-2):i] != "24":
		s.out = append(s.out, '/')
	case r == '/' && isWordRune(before) && isWordRune(after), r == '_', r == '\\':
		s.write(" ")
	case isSaid && r == after: // the last one of a row is said
	case isSaid:
		s.out = append(s.out, ' ')
		s.trimSpace()
		s.write(" " + s.symbols[r])
		s.words = append(s.words, word{textEnd: len(s.out), answerEnd: s.at[i+size]})
		s.write(" ")
	case isKept(r):
		s.out = append(s.out, s.in[i:i+size]...)
	}
	return size
}

// afterSpace is the next character that is no space.
func (s *speaker) afterSpace(i int) rune {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s.in[i:], " \u00a0"))
	return r
}

// isKept reports whether a character without a name is left to the synthesizer. Emoji and brackets
// are not.
func isKept(r rune) bool {
	if strings.ContainsRune("[]{}*~<>", r) {
		return false
	}
	return unicode.IsPunct(r) || unicode.In(r, unicode.Sm, unicode.Sc) || r == '°'
}

// isSaid reports whether a symbol that has a name is said: most of those that are also used for
// other things are said only beside numbers.
func isSaid(r, before, after rune) bool {
	isTerm := unicode.IsDigit(before) || before == ' '
	switch r {
	case '*', '+':
		return isTerm && unicode.IsDigit(after)
	case '>':
		return unicode.IsDigit(after)
	case '=', '°', '<':
		return isTerm
	}
	return true
}

// punctuation appends a punctuation mark, without a space before it. After another one only those
// that may follow are left: there is no comma after a full stop.
func (s *speaker) punctuation(r rune) {
	s.trimSpace()
	last, _ := utf8.DecodeLastRune(s.out)
	switch {
	case len(s.out) == 0 && r != '…':
		return
	case last == '.' && r == ',': // behind an abbreviation: "Sat., Dec. 5"
		s.out[len(s.out)-1] = ','
		return
	case strings.ContainsRune(".,;:!?…", last) && (r == ',' || r == ';' || r == ':' || last == ',' || last == ';'):
		if r == '.' || r == '!' || r == '?' {
			s.out[len(s.out)-1] = byte(r)
		}
		return
	}
	s.out = utf8.AppendRune(s.out, r)
}

// numberRunes are what numbers and times are written with.
const numberRunes = "0123456789.,:"

// hyphen says "to" in a range, a pause for a dash, and keeps a hyphen.
func (s *speaker) hyphen(i, size int, before, after rune) {
	switch {
	case s.isRange(i, size, before, after):
		s.write(s.to)
	case before == ' ' && (after == ' ' || after == utf8.RuneError), s.in[i:i+size] == "—":
		s.punctuation(',')
		s.write(" ")
	default:
		s.out = append(s.out, s.in[i:i+size]...)
	}
}

// isRange reports whether a dash is between the two ends of a range: "5–7", "9:00–17:00",
// "$5–$10". A hyphen is taken for one only if the second number is larger, and there are only two.
func (s *speaker) isRange(i, size int, before, after rune) bool {
	beginsAmount := func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("$€£", r) }
	right := strings.TrimLeft(s.in[i+size:], " ")
	left := strings.TrimRight(s.in[:i], " ")
	if s.to == "" || left == "" || right == "" {
		return false
	}
	if before == ' ' || after == ' ' { // "9:00 – 17:00"
		before, _ = utf8.DecodeLastRuneInString(left)
		after, _ = utf8.DecodeRuneInString(right)
		return unicode.IsDigit(before) && unicode.IsDigit(after) && s.in[i:i+size] == "–"
	}
	if !beginsAmount(after) {
		return false
	}
	if s.in[i:i+size] != "-" {
		return unicode.IsDigit(before) || unicode.IsLetter(before) || strings.ContainsRune("%€£$°", before)
	}
	rest := strings.TrimRight(left, numberRunes)
	from := left[len(rest):]
	if half := strings.ToLower(left); s.clock.twelve && (strings.HasSuffix(half, "am") || strings.HasSuffix(half, "pm")) {
		return true // "9am-5pm"
	}
	right = strings.TrimLeft(right, "$€£")
	behind := strings.TrimLeft(right, numberRunes)
	upTo := strings.TrimRight(right[:len(right)-len(behind)], ".,:")
	if from == "" || upTo == "" || strings.HasSuffix(rest, "-") || strings.HasPrefix(behind, "-") {
		return false
	}
	return len(from) < len(upTo) || len(from) == len(upTo) && from < upTo
}
