package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// tabColumns replaces a tab.
const tabColumns = "    "

// Clean makes a text safe for a terminal: it removes control characters and those that change the
// direction of writing. Line breaks and tabs become spaces.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return harmless(r)
	}, strings.ToValidUTF8(text, ""))
}

// CleanText is Clean for a text that keeps its line breaks and tabs. It removes the characters that
// begin an escape sequence, so a sequence that is split over two texts is harmless too.
func CleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return harmless(r)
	}, strings.ToValidUTF8(text, ""))
}

// harmless returns the character, or -1 to remove it.
func harmless(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
		return -1
	}
	return r
}

// CleanLines is Clean for each line of a text. It trims white space at the ends of lines.
func CleanLines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", tabColumns), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(Clean(line), unicode.IsSpace)
	}
	return lines
}

// Width returns how many columns a clean text occupies: two for wide characters, none for combining
// marks.
func Width(text string) int {
	columns := 0
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Cut shortens a text at its end, which becomes "…".
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	if columns <= 0 {
		return ""
	}
	head, _ := split(text, columns-1)
	return head + "…"
}

// CutMiddle shortens a text in the middle. It keeps the extensions of file names.
func CutMiddle(text string, columns int) string {
	if Width(text) <= columns || columns < 8 {
		return Cut(text, columns)
	}
	tail := (columns - 1) / 3
	head, _ := split(text, columns-1-tail)
	_, end := split(text, Width(text)-tail)
	for Width(end) > tail { // a wide character crosses the cut
		_, size := utf8.DecodeRuneInString(end)
		end = end[size:]
	}
	return head + "…" + end
}

// split divides a text; the head has at most that many columns.
func split(text string, columns int) (head, tail string) {
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > columns {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// Pad shortens or pads a text to exactly that many columns.
func Pad(text string, columns int) string {
	text = CutMiddle(text, columns)
	return text + strings.Repeat(" ", max(columns-Width(text), 0))
}

// Wrap breaks a text at spaces into lines of at most that many columns. Longer words are broken.
func Wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for Width(word) > columns { // texts without spaces, long addresses
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head, rest := split(word, columns)
			if head == "" {
				return append(lines, word) // narrower than one character
			}
			lines, word = append(lines, head), rest
		}
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= columns:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
