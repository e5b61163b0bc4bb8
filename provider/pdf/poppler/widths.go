package poppler

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// cellSpaces is how many spaces pdftohtml writes at least for the room between the cells of a
	// row that it took for one piece; justified text has fewer between its words.
	cellSpaces = 4
	// spaceWidth is what it writes a space for, in sizes of the letters.
	spaceWidth = 0.27
)

// emsOf estimates the width of a text in sizes of its letters. It is right to a tenth or so.
func emsOf(text string) float64 {
	ems := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijlIft.,:;'!|()[] ", r):
			ems += 0.28
		case strings.ContainsRune("mwMW%@—", r):
			ems += 0.84
		case r >= '\u2E80' && r <= '\uFFEF':
			ems++
		case unicode.IsUpper(r):
			ems += 0.67
		case unicode.IsMark(r):
		default:
			ems += 0.52
		}
	}
	return ems
}

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

// inReadingOrder gives the letters of a piece as they are read. pdftohtml writes them as they
// stand, from left to right.
func inReadingOrder(text string) string {
	if !strings.ContainsFunc(text, isRightToLeft) {
		return text
	}
	letters := []rune(text)
	leftward := 0
	for _, r := range letters {
		switch {
		case isRightToLeft(r):
			leftward++
		case unicode.IsLetter(r):
			leftward--
		}
	}
	if leftward < 0 {
		reverseRuns(letters, isRightToLeft, isLeftToRight)
		return string(letters)
	}
	slices.Reverse(letters)
	reverseRuns(letters, isLeftToRight, isRightToLeft)
	return string(letters)
}

// reverseRuns reverses what stands from one letter to the last before an other one.
func reverseRuns(letters []rune, isOne, isOther func(rune) bool) {
	for start := 0; start < len(letters); start++ {
		if !isOne(letters[start]) {
			continue
		}
		last := start
		for i := start; i < len(letters) && !isOther(letters[i]); i++ {
			if isOne(letters[i]) {
				last = i
			}
		}
		slices.Reverse(letters[start : last+1])
		start = last
	}
}

func isRightToLeft(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana) && unicode.IsLetter(r)
}

func isLeftToRight(r rune) bool {
	return unicode.IsDigit(r) || unicode.IsLetter(r) && !isRightToLeft(r)
}
