package modeltext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns the first limit bytes of a text with a marker, or the whole text when it is not
// longer.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[cut: the first %d of %d bytes]", text[:end], end, len(text))
}

// Visible returns at most maxChars characters of a text, without invisible ones: control
// characters, direction marks, zero-width and tag characters hide words from people but not from
// models.
func Visible(text string, maxChars int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= maxChars {
		return text
	}
	return string([]rune(text)[:maxChars]) + "…"
}

// Fence quotes the words of a server, so that a model does not read them as instructions.
func Fence(text string) string {
	return `""" ` + strings.ReplaceAll(text, `"""`, `'''`) + ` """`
}
