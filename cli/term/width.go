package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// tabColumns is what a tab is shown as.
const tabColumns = "    "

// Clean makes a text harmless on a terminal: control characters and those that change the
// direction of writing are left out, line ends and tabs become spaces.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return harmless(r)
	}, strings.ToValidUTF8(text, ""))
}

// CleanText is Clean for a text, or a piece of one, that keeps its lines and tabs. It takes the characters that
// begin a sequence away, and not sequences: one that is split over two pieces is as harmless as a whole one.
func CleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return harmless(r)
	}, strings.ToValidUTF8(text, ""))
}

// harmless is the character, or -1 when it is left out.
func harmless(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
		return -1
	}
	return r
}

// CleanLines is Clean for a text of several lines, which it returns without white space at the ends.
func CleanLines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", tabColumns), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(Clean(line), unicode.IsSpace)
	}
	return lines
}

// Width is how many columns a clean text takes: wide characters two, marks that sit on the one
// before none.
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

// Cut keeps the beginning of a text; when something is left out it ends with "…".
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

// CutMiddle keeps both ends of a text, as names of files want it: the end says which kind it is.
func CutMiddle(text string, columns int) string {
	if Width(text) <= columns || columns < 8 {
		return Cut(text, columns)
	}
	tail := (columns - 1) / 3
	head, _ := split(text, columns-1-tail)
	_, end := split(text, Width(text)-tail)
	for Width(end) > tail { // a wide character stood across the cut
		_, size := utf8.DecodeRuneInString(end)
		end = end[size:]
	}
	return head + "…" + end
}

// split divides a text so that the first part takes at most so many columns.
func split(text string, columns int) (head, tail string) {
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > columns {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// Pad cuts or fills a text to exactly so many columns.
func Pad(text string, columns int) string {
	text = CutMiddle(text, columns)
	return text + strings.Repeat(" ", max(columns-Width(text), 0))
}

// Wrap breaks a text at spaces into lines of at most so many columns. A word that is longer has
// a line of its own, cut.
func Wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for Width(word) > columns { // scripts without spaces, long addresses
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
