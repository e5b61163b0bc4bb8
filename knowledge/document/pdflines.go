package document

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinLines makes one line of the lines of a paragraph. A hyphen at the end of a line goes where it
// only breaks a word, and words of scripts without spaces get none.
func joinLines(text string) string {
	if !strings.ContainsAny(text, "\n\u00AD") {
		return squeezed(text)
	}
	var out []byte
	for line := range strings.SplitSeq(text, "\n") {
		if line = squeezed(line); line != "" {
			out = append(appendSeam(out, line), line...)
		}
	}
	return withoutSoftHyphens(string(out))
}

// appendSeam adds what stands between two lines, and takes the hyphen off a broken word.
func appendSeam(out []byte, next string) []byte {
	if len(out) == 0 {
		return out
	}
	last, size := utf8.DecodeLastRune(out)
	first, _ := utf8.DecodeRuneInString(next)
	switch last {
	case '\u00AD':
		return out[:len(out)-size]
	case '-', '\u2010':
		stem := out[:len(out)-size]
		before, _ := utf8.DecodeLastRune(stem)
		switch {
		case !unicode.IsLetter(before) && !unicode.IsDigit(before):
		case unicode.IsLower(first) && unicode.IsLetter(before) && !bytes.ContainsAny(lastWord(stem), "-\u2010"):
			return stem
		case unicode.IsLetter(first) || unicode.IsDigit(first):
			return out // "Jean-Paul", "state-of-the-art", "COVID-19"
		}
	case '/':
		if bytes.Contains(lastWord(out), []byte("://")) {
			return out
		}
	}
	if isSpaceless(last) && isSpaceless(first) {
		return out
	}
	return append(out, ' ')
}

// lastWord is what follows the last space.
func lastWord(text []byte) []byte {
	const longest = 200
	text = text[max(0, len(text)-longest):]
	return text[bytes.LastIndexByte(text, ' ')+1:]
}

// isSpaceless is a character of a script that is written without spaces between words.
func isSpaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= '\u3000' && r <= '\u303F' ||
		r >= '\uFF00' && r <= '\uFF65'
}

// leader stands for the dots between an entry and its page in a table of contents.
const leader = " … "

// leaderDots matches four dots and more, with spaces among them.
var leaderDots = regexp.MustCompile(` *(?:\. *){4,}`)

// withoutLeaders shortens runs of dots.
func withoutLeaders(text string) string {
	if !strings.Contains(text, ". . . .") && !strings.Contains(text, "....") {
		return text
	}
	return leaderDots.ReplaceAllLiteralString(text, leader)
}
