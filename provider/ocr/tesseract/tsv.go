package tesseract

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/provider/ocr"
)

// Columns of tesseract's table, and the levels of its rows.
const (
	atLevel, atLeft, atWidth, atHeight, atConfidence, atText, columns = 0, 6, 8, 9, 10, 11, 12

	paragraphLevel, lineLevel, wordLevel = "3", "4", "5"
)

// cellGap is how many heights of its line a gap between two words is when it separates cells of a
// table. Between words it is a third of one, a whole one in justified lines.
const cellGap = 2.5

// tsv makes paragraphs of tesseract's table as it comes.
type tsv struct {
	text ocr.Text
	rest []byte

	line       strings.Builder
	lines      []string
	lineHeight float64
	upright    bool
	right      float64 // end of the last word
	heights    []float64
	// chars counts the characters of all words, sure sums up their confidence.
	chars, sure float64
}

// Write takes a piece of the table; it never fails.
func (t *tsv) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	for {
		row, rest, found := bytes.Cut(t.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		t.row(strings.SplitN(string(row), "\t", columns))
		t.rest = rest
	}
}

// end gives the text when the table is complete.
func (t *tsv) end() ocr.Text {
	t.endParagraph()
	if t.chars > 0 {
		t.text.Confidence = t.sure / t.chars
	}
	return t.text
}

func (t *tsv) row(cells []string) {
	if len(cells) < columns {
		return
	}
	number := func(at int) float64 { n, _ := strconv.ParseFloat(cells[at], 64); return n } // the head of the table has none
	switch cells[atLevel] {
	case paragraphLevel:
		t.endParagraph()
	case lineLevel:
		t.endLine()
		// A line of a page that lies on its side is higher than wide.
		t.lineHeight, t.upright = min(number(atWidth), number(atHeight)), number(atWidth) >= number(atHeight)
	case wordLevel:
		word := strings.TrimSpace(cells[atText])
		t.word(word, number(atLeft), number(atWidth))
		chars := float64(utf8.RuneCountInString(word))
		t.chars += chars
		t.sure += chars * number(atConfidence)
	}
}

// word adds a word to its line; pictures and rules are words of white space.
func (t *tsv) word(word string, left, width float64) {
	if word == "" {
		return
	}
	if t.line.Len() > 0 {
		gap := " "
		if t.upright && left-t.right > cellGap*t.lineHeight {
			gap = "\t"
		}
		t.line.WriteString(gap)
	}
	t.line.WriteString(word)
	t.right = left + width
}

func (t *tsv) endLine() {
	if t.line.Len() == 0 {
		return
	}
	t.lines = append(t.lines, t.line.String())
	t.heights = append(t.heights, t.lineHeight)
	t.line.Reset()
}

func (t *tsv) endParagraph() {
	t.endLine()
	if len(t.lines) == 0 {
		return
	}
	slices.Sort(t.heights)
	t.text.Paragraphs = append(t.text.Paragraphs, ocr.Paragraph{
		Text: strings.Join(t.lines, "\n"), LineHeight: t.heights[len(t.heights)/2],
	})
	t.lines, t.heights = nil, nil
}
