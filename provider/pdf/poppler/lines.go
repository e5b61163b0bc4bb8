package poppler

import (
	"cmp"
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
	// pieces are from left to right, and cells are those joined that have no wide room between them;
	// running text has one.
	pieces, cells []span
	// marked says that it begins with a bullet or a number of a list.
	marked bool
}

// lines puts the pieces of a region together, from top to bottom.
func lines(spans []span) []line {
	if len(spans) == 0 {
		return nil
	}
	sorted := slices.Clone(spans)
	slices.SortStableFunc(sorted, byTop)
	type row struct {
		spans []span
		// tallest is the piece that says what stands at the row's height.
		tallest span
	}
	var rows []row
	// The last few rows are open: what is raised or lowered begins a little apart.
	const open = 4
	for _, s := range sorted {
		placed := false
		for i := len(rows) - 1; i >= max(0, len(rows)-open) && !placed; i-- {
			if sameLine(rows[i].tallest, s) {
				placed = true
				rows[i].spans = append(rows[i].spans, s)
				if s.height() > rows[i].tallest.height() {
					rows[i].tallest = s
				}
			}
		}
		if !placed {
			rows = append(rows, row{[]span{s}, s})
		}
	}
	out := make([]line, 0, len(rows))
	for _, row := range rows {
		out = append(out, makeLine(row.spans))
	}
	slices.SortStableFunc(out, func(a, b line) int { return byTop(a.span, b.span) })
	return out
}

// sameLine says whether a piece stands at the height of another.
func sameLine(tallest, s span) bool {
	overlap := min(tallest.bottom, s.bottom) - max(tallest.top, s.top)
	return overlap >= 0.5*min(tallest.height(), s.height())
}

// makeLine joins a row's pieces into words and cells.
func makeLine(row []span) line {
	slices.SortStableFunc(row, func(a, b span) int { return cmp.Compare(a.left, b.left) })
	if runsLeft(row) {
		return makeLeftLine(row)
	}
	var l line
	current := joiner{}
	l.pieces = row
	for _, s := range row {
		gap, height := s.left-current.right, max(min(s.height(), current.latest.height()), 1)
		switch {
		case len(current.texts) == 0:
			current.add(s, "")
		case gap < 0 && isTwice(current.latest, s):
			// Shadows, and boldness made by printing twice.
		case gap > cellGap*height && !isMark(current.latest.text):
			l.cells = append(l.cells, current.done())
			current = joiner{}
			current.add(s, "")
		case gap > wordGap*height || current.latest.spaced || isMark(current.latest.text):
			current.add(s, " ")
		default:
			current.add(s, "")
		}
	}
	l.cells = append(l.cells, current.done())
	whole := joiner{}
	for i, c := range l.cells {
		whole.add(c, " "[:min(i, 1)])
	}
	l.span = whole.done()
	first, _, _ := strings.Cut(l.cells[0].text, " ")
	l.marked = isMark(first) && first != l.cells[0].text
	return l
}

// runsLeft says whether most letters of a row are of scripts that run from right to left.
func runsLeft(row []span) bool {
	letters, left := 0, 0
	for _, s := range row {
		for _, r := range s.text {
			if unicode.IsLetter(r) {
				letters++
				if isRightToLeft(r) {
					left++
				}
			}
		}
	}
	return 2*left > letters
}

// makeLeftLine joins the pieces of such a row, which come from left to right, into one cell:
// the last is read first.
func makeLeftLine(row []span) line {
	l := line{pieces: row}
	whole := joiner{}
	for _, s := range slices.Backward(row) {
		whole.add(s, " "[:min(len(whole.texts), 1)])
	}
	l.span = whole.done()
	l.cells = []span{l.span}
	return l
}

// isTwice says whether b is a again at nearly the same place.
func isTwice(a, b span) bool {
	return strings.HasSuffix(a.text, b.text) && b.right <= a.right+2 && b.right >= a.right-2
}

// joiner joins pieces from left to right. The longest decides about size and weight.
type joiner struct {
	span
	texts   []string
	longest int
	latest  span
}

func (j *joiner) add(s span, between string) {
	if len(j.texts) == 0 {
		j.span = s
	}
	j.all, j.weight.last = j.all && s.all, s.weight.last
	if chars := utf8.RuneCountInString(s.text); chars > j.longest {
		j.longest, j.size, j.most = chars, s.size, s.most
	}
	j.texts, j.latest = append(j.texts, between, s.text), s
	j.left, j.right = min(j.left, s.left), max(j.right, s.right)
	j.top, j.bottom = min(j.top, s.top), max(j.bottom, s.bottom)
}

func (j *joiner) done() span {
	if len(j.texts) != 2 { // else it is the one piece's
		j.text = strings.Join(j.texts, "")
	}
	return j.span
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
