package poppler

import (
	"slices"
	"strings"
)

const (
	// cellSpaces is how many spaces pdftohtml writes at least for the room between the cells of a
	// row that it took for one piece; justified text has fewer between its words.
	cellSpaces = 4
	// spaceWidth is what it writes a space for, in sizes of the letters.
	spaceWidth = 0.27
	// minColumnRows have a word alone in a column that joined cells are told by.
	minColumnRows = 3
)

// cellsOf takes the cells of a row apart that pdftohtml joined with many spaces. Their places are
// estimated.
func cellsOf(s span) []span {
	gap := strings.Repeat(" ", cellSpaces)
	if !strings.Contains(s.text, gap) {
		return []span{s}
	}
	var cells []span
	var starts, ends []float64
	at := 0.0
	for rest := s.text; rest != ""; {
		text, after, _ := strings.Cut(rest, gap)
		spaces := len(after) - len(strings.TrimLeft(after, " "))
		rest = after[spaces:]
		cell := s
		cell.text = text
		cells, starts, ends = append(cells, cell), append(starts, at), append(ends, at+emsOf(text))
		at = ends[len(ends)-1] + float64(spaces+cellSpaces)*spaceWidth
	}
	scale := (s.right - s.left) / max(ends[len(ends)-1], 1)
	for i := range cells {
		cells[i].left, cells[i].right = s.left+scale*starts[i], s.left+scale*ends[i]
		cells[i].spaced = i < len(cells)-1 || s.spaced
	}
	return cells
}

// withoutFused takes the cells of a table apart that pdftohtml joined with a space, which it does
// where there is less room between them than a line is high. Such pieces reach over columns in
// which other rows have single words.
func withoutFused(block []line) []line {
	columns, scale := wordColumns(block)
	if len(columns) < 2 {
		return block
	}
	out := slices.Clone(block)
	for i, l := range block {
		out[i].pieces = make([]span, 0, len(l.pieces))
		for _, p := range l.pieces {
			over := 0
			for _, c := range columns {
				if min(c.right, p.right)-max(c.left, p.left) >= 0.5*(c.right-c.left) {
					over++
				}
			}
			if over < 2 {
				out[i].pieces = append(out[i].pieces, p)
				continue
			}
			out[i].pieces = append(out[i].pieces, wordsOf(p, scale)...)
		}
	}
	return out
}

// wordColumns are the columns of pieces that are one word, which several rows have, and how wide
// these pieces are to how wide they were estimated.
func wordColumns(block []line) (columns []span, scale float64) {
	var words []span
	width, estimated := 0.0, 0.0
	for _, l := range block {
		for _, p := range l.pieces {
			if !strings.Contains(p.text, " ") {
				words = append(words, p)
				width += p.right - p.left
				estimated += p.size * emsOf(p.text)
			}
		}
	}
	for _, c := range merged(words) { // which sorts the words, too
		rows := slices.IndexFunc(words, func(w span) bool { return w.left >= c.right })
		if rows < 0 {
			rows = len(words)
		}
		if words = words[rows:]; rows >= minColumnRows && len(columns) < maxTableColumns {
			columns = append(columns, c)
		}
	}
	return columns, width / max(estimated, 1)
}

// wordsOf are the words of a piece, with as much room between each.
func wordsOf(p span, scale float64) []span {
	texts := strings.Fields(p.text)
	if len(texts) < 2 || strings.ContainsFunc(p.text, isRightToLeft) {
		return []span{p}
	}
	words := make([]span, len(texts))
	room := p.right - p.left
	for _, text := range texts {
		room -= scale * p.size * emsOf(text)
	}
	left := p.left
	for i, text := range texts {
		words[i] = p
		words[i].text, words[i].spaced = text, i < len(texts)-1 || p.spaced
		words[i].left, words[i].right = left, left+scale*p.size*emsOf(text)
		left = words[i].right + max(room, 0)/float64(len(texts)-1)
	}
	return words
}
