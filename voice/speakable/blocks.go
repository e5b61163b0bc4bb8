package speakable

import (
	"strconv"
	"strings"
	"unicode"
)

// kind is what kind of block a line begins.
type kind int

const (
	continued kind = iota // the paragraph of the line before, or a new one
	heading
	quote // the marker of a quotation, before any kind
	item
	ordered
	code
	row    // of a table
	silent // a rule, an underline, the definition of a link or footnote
)

// block is the beginning of a block.
type block struct {
	kind kind
	// unknown is whether more text is needed to tell.
	unknown bool
	// length is how many bytes of the line to leave out: its marker, or the whole line.
	length int
	// number is the number of an item of an ordered list, which has that many digits.
	number, digits int
	// fence is what ends a block of code.
	fence string
}

var (
	undecided = block{unknown: true}
	paragraph = block{}
)

// recognize tells which kind of block a line begins. rest is the text from the line's first
// character that is no space. final is whether it is all there is.
func (m *markdown) recognize(rest string, final bool) block {
	switch c := rest[0]; {
	case c == '`' || c == '~':
		return recognizeFence(rest, final)
	case c == '#':
		return recognizeHeading(rest, final)
	case c == '>':
		if len(rest) == 1 && !final {
			return undecided
		}
		return block{kind: quote, length: 1}
	case c == '-' || c == '*' || c == '+' || c == '=' || c == '_':
		return recognizeBullet(rest, final)
	case strings.HasPrefix(rest, "•"):
		return block{kind: item, length: len("•")}
	case '0' <= c && c <= '9':
		return m.recognizeNumber(rest, final)
	case c == '|':
		return m.recognizeRow(rest, final)
	case c == '[':
		return recognizeDefinition(rest, final)
	}
	return paragraph
}

// run is how often a text repeats its first byte.
func run(text string) int { return len(text) - len(strings.TrimLeft(text, text[:1])) }

// lineLength is the length of the first line with its line break, or 0 if it is not complete.
func lineLength(text string, final bool) int {
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		return end + 1
	}
	if final {
		return len(text)
	}
	return 0
}

func recognizeFence(rest string, final bool) block {
	n := run(rest)
	switch {
	case n < 3 && n == len(rest) && !final:
		return undecided
	case n < 3:
		return paragraph
	}
	length := lineLength(rest, final)
	info := rest[n:]
	if length > 0 {
		info = rest[n:length]
	}
	switch {
	case rest[0] == '`' && strings.Contains(info, "`"): // code within a paragraph
		return paragraph
	case length == 0:
		return undecided
	}
	return block{kind: code, length: length, fence: rest[:n]}
}

func recognizeHeading(rest string, final bool) block {
	n := run(rest)
	switch {
	case n > 6:
		return paragraph
	case n == len(rest) && !final:
		return undecided
	case n == len(rest), rest[n] == ' ', rest[n] == '\t', rest[n] == '\n':
		return block{kind: heading, length: n}
	}
	return paragraph
}

// recognizeBullet tells items of lists, rules and the underlines of headings from other text.
func recognizeBullet(rest string, final bool) block {
	marker := rest[:1]
	length := lineLength(rest, final)
	line := rest
	if length > 0 {
		line = rest[:length]
	}
	others := strings.Trim(line, marker+" \t\r\n")
	marks := strings.Count(line, marker)
	isItem := len(rest) > 1 && (rest[1] == ' ' || rest[1] == '\t') && strings.Contains("-*+", marker)
	switch {
	case others != "" && isItem:
		return block{kind: item, length: 1}
	case others != "":
		return paragraph
	case length == 0:
		return undecided
	case marks >= 3, marker == "=", marker == "-" && !isItem:
		return block{kind: silent, length: length}
	case isItem || len(strings.TrimSpace(line)) == 1 && strings.Contains("-*+", marker):
		return block{kind: item, length: 1} // an empty item
	}
	return paragraph
}

// recognizeNumber recognizes "1. " and "1) ". A list begins with 1 and counts on, so that "2026. "
// or the "27. November" of a German sentence is none.
func (m *markdown) recognizeNumber(rest string, final bool) block {
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	after := rest[digits:]
	switch {
	case digits > 3:
		return paragraph
	case len(after) < 2 && !final && (after == "" || after == "." || after == ")"):
		return undecided
	case len(after) < 2, after[0] != '.' && after[0] != ')', after[1] != ' ' && after[1] != '\t':
		return paragraph
	}
	number, err := strconv.Atoi(rest[:digits])
	if err != nil || number != 1 && number != m.item+1 {
		return paragraph
	}
	word := strings.TrimLeft(after[1:], " \t")
	end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	switch {
	case end < 0 && len(word) < 16 && !final && m.language.ordinalDot:
		return undecided
	case end < 0:
		end = len(word)
	}
	if m.language.ordinalDot && m.language.month(word[:end]) > 0 {
		return paragraph
	}
	return block{kind: ordered, length: digits + 1, number: number, digits: digits}
}

// recognizeRow recognizes rows of tables: a line that begins with a bar, if the next line is the
// rule under a header, and the lines after it.
func (m *markdown) recognizeRow(rest string, final bool) block {
	length := lineLength(rest, final)
	switch {
	case length == 0:
		return undecided
	case m.header != nil:
		return block{kind: row, length: length}
	}
	under := strings.TrimLeft(rest[length:], " \t")
	rule := len(under) - len(strings.TrimLeft(under, "|-: \t"))
	switch {
	case rule == len(under) && !final:
		return undecided
	case rule < len(under) && under[rule] != '\n' && under[rule] != '\r', !strings.Contains(under[:rule], "-"):
		return paragraph
	}
	return block{kind: row, length: length}
}

// recognizeDefinition recognizes "[1]: https://…" and "[^1]: …", which say nothing.
func recognizeDefinition(rest string, final bool) block {
	const maxLabel = 80
	end := strings.IndexAny(rest, "]\n")
	switch {
	case end < 0 && len(rest) < maxLabel && !final, end >= 0 && rest[end] == ']' && end+1 == len(rest) && !final:
		return undecided
	case end < 0, end > maxLabel, !strings.HasPrefix(rest[end:], "]:"):
		return paragraph
	}
	length := lineLength(rest, final)
	if length == 0 {
		return undecided
	}
	return block{kind: silent, length: length}
}
