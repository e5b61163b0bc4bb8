package poppler

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// cellGap is the room between the cells of a row, in heights of the line. Room after a full
	// stop in justified text is up to 1.6.
	cellGap = 1.9
	// wordGap is the room from which two pieces are two words.
	wordGap = 0.12
)

// line is what stands at one height of a region.
type line struct {
	span
	// cells are its pieces with wide room between them, from left to right; one for running text.
	cells []span
	// marked says that it begins with a bullet or a number of a list.
	marked bool
}

// segments joins the pieces that stand beside each other without wide room.
func segments(spans []span) []span {
	var out []span
	for _, l := range lines(spans) {
		out = append(out, l.cells...)
	}
	return out
}

// lines puts the pieces of a region together, from top to bottom.
func lines(spans []span) []line {
	if len(spans) == 0 {
		return nil
	}
	sorted := slices.Clone(spans)
	slices.SortStableFunc(sorted, byTop)
	var rows [][]span
	// The last few rows are open: what is raised or lowered begins a little apart.
	const open = 4
	for _, s := range sorted {
		placed := false
		for i := len(rows) - 1; i >= max(0, len(rows)-open) && !placed; i-- {
			if sameLine(rows[i], s) {
				rows[i], placed = append(rows[i], s), true
			}
		}
		if !placed {
			rows = append(rows, []span{s})
		}
	}
	out := make([]line, 0, len(rows))
	for _, row := range rows {
		out = append(out, makeLine(row))
	}
	slices.SortStableFunc(out, func(a, b line) int { return byTop(a.span, b.span) })
	return out
}

// sameLine says whether a piece stands at the height of a row, whose tallest piece counts.
func sameLine(row []span, s span) bool {
	tallest := row[0]
	for _, r := range row[1:] {
		if r.height() > tallest.height() {
			tallest = r
		}
	}
	overlap := min(tallest.bottom, s.bottom) - max(tallest.top, s.top)
	return overlap >= 0.5*min(tallest.height(), s.height())
}

// makeLine joins a row's pieces into words and cells.
func makeLine(row []span) line {
	slices.SortStableFunc(row, func(a, b span) int {
		switch {
		case a.left < b.left:
			return -1
		case a.left > b.left:
			return 1
		}
		return 0
	})
	var l line
	for _, s := range row {
		s.text = strings.TrimFunc(s.text, isBlank)
		if len(l.cells) == 0 {
			l.cells = append(l.cells, s)
			continue
		}
		last := &l.cells[len(l.cells)-1]
		gap, height := s.left-last.right, max(min(s.height(), last.height()), 1)
		switch {
		case gap < 0 && isTwice(*last, s):
			// Shadows, and boldness made by printing twice.
		case gap > cellGap*height && !isMark(last.text):
			l.cells = append(l.cells, s)
		default:
			between := ""
			if gap > wordGap*height || isMark(last.text) {
				between = " "
			}
			last.join(s, between)
		}
	}
	l.span = l.cells[0]
	for _, c := range l.cells[1:] {
		l.join(c, " ")
	}
	first, _, _ := strings.Cut(l.cells[0].text, " ")
	l.marked = isMark(first) && first != l.cells[0].text
	return l
}

// isTwice says whether b is a again at nearly the same place.
func isTwice(a, b span) bool {
	return strings.HasSuffix(a.text, b.text) && b.right <= a.right+2 && b.right >= a.right-2
}

// join adds a piece to the right. The longer text decides about size and weight.
func (s *span) join(other span, between string) {
	if utf8.RuneCountInString(other.text) > utf8.RuneCountInString(s.text) {
		s.size, s.bold = other.size, other.bold
	}
	s.text += between + other.text
	s.left, s.right = min(s.left, other.left), max(s.right, other.right)
	s.top, s.bottom = min(s.top, other.top), max(s.bottom, other.bottom)
}

// isMark recognises the bullets and numbers that items of lists begin with.
func isMark(text string) bool {
	switch text {
	case "•", "◦", "▪", "■", "‣", "–", "-", "*", "o", "·", "●", "○", "", "➢", "✓", "—":
		return true
	}
	core := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(text, "("), ")"), ".")
	if core == text || core == "" || len(core) > 3 {
		return false
	}
	letters := 0
	for _, r := range core {
		switch {
		case unicode.IsDigit(r):
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			letters++
		default:
			return false
		}
	}
	return letters == 0 || len(core) == 1 || strings.Trim(strings.ToLower(core), "ivx") == ""
}
