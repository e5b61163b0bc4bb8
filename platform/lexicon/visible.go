package lexicon

import (
	"strings"
	"unicode"
)

// Visible is a text as it is seen: without characters that have no width (zero-width spaces, marks
// of direction, soft hyphens), and with one character for the hyphens that look alike. The joiners
// of Persian and Indian words stay.
func Visible(text string) string {
	if ascii(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2010' || r == '\u2011':
			return '-'
		case r == '\u200c' || r == '\u200d':
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}
