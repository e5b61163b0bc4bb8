package speakable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// speaker turns the plain text of a piece into the text to synthesize.
type speaker struct {
	*language
	// in is the plain text, at the offset of each of its bytes in the answer, and of its end.
	in string
	at []int
	// out is what was made of in so far.
	out   []byte
	words []word
}

// rule says what stands at the beginning of a word. It returns how many bytes it replaces, 0 for
// none of its kind, and by what.
type rule func(s *speaker, i int) (length int, say string)

// The rules, by what the word begins with. The first that finds something is taken.
var (
	digitRules = []rule{
		isoDate, writtenDate, amPM, clockTime, dimension, cardNumber, phoneNumber, dottedNumber, amountAfter, ordinal, measure, serial,
		longNumber,
	}
	letterRules = []rule{email, webAddress, amountBefore, accountNumber, serial, versionNumber, weekday, monthName, shortened}
	signRules   = []rule{phoneNumber, amountBefore, negative, hashNumber, approximate}
)

// speak makes a piece. at has one more offset than text bytes, that of its end. last is whether the
// block ends with it, which is said as the end of a sentence.
func (l *language) speak(text string, at []int, last bool) Piece {
	trimmed := strings.TrimLeft(text, " \u00a0")
	at = at[len(text)-len(trimmed):]
	trimmed = strings.TrimRight(trimmed, " \u00a0")
	s := speaker{language: l, in: trimmed, at: at, out: make([]byte, 0, len(text)+len(text)/2)}
	for i := 0; i < len(s.in); {
		i += s.next(i)
	}
	if len(s.words) == 0 || at[len(trimmed)] <= at[0] { // only markup, or the name of a column without a cell
		return Piece{}
	}
	s.trimSpace()
	if r, _ := utf8.DecodeLastRune(s.out); last && (isWordRune(r) || strings.ContainsRune(`)"'”’»`, r)) {
		s.out = append(s.out, '.')
	}
	return Piece{Text: string(s.out), Start: at[0], End: at[len(trimmed)], words: s.words}
}

// next speaks what stands at i and returns its length.
func (s *speaker) next(i int) int {
	r, size := utf8.DecodeRuneInString(s.in[i:])
	before, _ := utf8.DecodeLastRuneInString(s.in[:i])
	if !isWordRune(before) {
		for _, rule := range rulesFor(r) {
			if n, say := rule(s, i); n > 0 {
				s.replace(i, n, say)
				return n
			}
		}
	}
	switch {
	case unicode.IsMark(r): // one without a letter
		return size
	case isWordRune(r):
		n := wordLength(s.in[i:])
		if ending, end := s.ending(i, n); end > 0 {
			s.replace(i, n+1, ending)
			return n + 1
		}
		s.copyWord(i, n)
		return n
	}
	return s.symbol(i, r, size)
}

func rulesFor(r rune) []rule {
	switch {
	case '0' <= r && r <= '9':
		return digitRules
	case unicode.IsLetter(r):
		return letterRules
	case strings.ContainsRune("+($€£¥₹-−#~≈", r):
		return signRules
	}
	return nil
}

// replace says something for n bytes at i. What is said begins and ends with a space where it must
// not touch its neighbours; it is one word for the transcript.
func (s *speaker) replace(i, n int, say string) {
	s.write(say)
	end := len(s.out)
	for end > 0 && s.out[end-1] == ' ' {
		end--
	}
	s.words = append(s.words, word{textEnd: end, answerEnd: s.at[i+n]})
}

// write appends text, without a second space.
func (s *speaker) write(text string) {
	if len(s.out) == 0 || s.out[len(s.out)-1] == ' ' {
		text = strings.TrimLeft(text, " ")
	}
	s.out = append(s.out, text...)
}

// copyWord says n bytes at i as they are. An underscore in a name is a pause.
func (s *speaker) copyWord(i, n int) {
	s.write(strings.ReplaceAll(s.in[i:i+n], "_", " "))
	s.words = append(s.words, word{textEnd: len(s.out), answerEnd: s.at[i+n]})
}

// wordLength is how long the word is that a text begins with. Hyphens, apostrophes, underscores,
// and the separators in numbers, belong to it. Scripts without spaces have words of one character.
func wordLength(text string) int {
	number := text[0] >= '0' && text[0] <= '9'
	joiners := "-'’_"
	if number {
		joiners = ".,:'’_"
	}
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			if n == 0 {
				n = size
			}
			for n < len(text) { // marks above and below it
				mark, size := utf8.DecodeRuneInString(text[n:])
				if !unicode.IsMark(mark) {
					break
				}
				n += size
			}
			return n
		}
		if !isWordRune(r) {
			after, _ := utf8.DecodeRuneInString(text[n+size:])
			if !strings.ContainsRune(joiners, r) || !isWordRune(after) || number && !unicode.IsDigit(after) {
				return n
			}
		}
		n += size
	}
	return n
}

// ending completes a word that is abbreviated at its end: "Hauptstr.".
func (s *speaker) ending(i, n int) (string, int) {
	if i+n >= len(s.in) || s.in[i+n] != '.' {
		return "", 0
	}
	for short, long := range s.endings {
		stem, ok := strings.CutSuffix(s.in[i:i+n+1], short)
		if ok && stem != "" {
			return stem + long, n + 1
		}
	}
	return "", 0
}

// trimSpace removes spaces at the end of what is said.
func (s *speaker) trimSpace() {
	for len(s.out) > 0 && s.out[len(s.out)-1] == ' ' {
		s.out = s.out[:len(s.out)-1]
	}
}

// wordsBefore returns the last count words before i, in lower case.
func (s *speaker) wordsBefore(i, count int) []string {
	const reach = 60 // bytes
	words := strings.FieldsFunc(strings.ToLower(s.in[max(0, i-reach):i]), func(r rune) bool { return !isWordRune(r) })
	return words[max(0, len(words)-count):]
}

// ends reports whether the text after i begins a new sentence, or is empty.
func (s *speaker) ends(i int) bool {
	rest := strings.TrimLeft(s.in[i:], " \u00a0\"”’)»")
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || len(rest) < len(s.in)-i && unicode.IsUpper(r)
}
