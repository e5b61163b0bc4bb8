package poppler

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// minWords is how many words a line of running text usually has, and minSpacelessChars how many
	// characters where words are not told apart by spaces; cells of tables have fewer. With
	// manyWords a few lines suffice.
	minWords, manyWords, minSpacelessChars = 3, 5, 12
	// minIndexLines is how many lines a column of an index has at least.
	minIndexLines = 6
	// fullLine is the part of its column that a line of running text fills when the text goes on.
	fullLine = 0.75
)

// setting is how the lines are set of what may be a column.
type setting struct {
	lines int
	// inner lines are followed by a line of the same paragraph; full and wordy ones of these fill the
	// column, and have the words for running text.
	inner, full, wordy int
	// words are those of all inner lines.
	words int
	// starts are the first lines of paragraphs.
	starts []line
	all    []line
}

// settingOf looks at the lines of a column.
func settingOf(all []line) setting {
	s := setting{lines: len(all), all: all}
	if len(all) == 0 {
		return s
	}
	set := columnOfLines(all)
	for i, l := range all {
		if i == 0 || !isNext(all[i-1], l, set.pitch) {
			s.starts = append(s.starts, l)
		}
		if i+1 == len(all) || !isNext(l, all[i+1], set.pitch) {
			continue
		}
		s.inner++
		if l.right-l.left >= fullLine*(set.right-set.left) {
			s.full++
		}
		if len(l.pieces) > 1 {
			continue // more than one run: cells
		}
		words := strings.Count(l.text, " ") + 1
		s.words += words
		if words >= minWords || words < 2 && utf8.RuneCountInString(l.text) >= minSpacelessChars {
			s.wordy++
		}
	}
	return s
}

// isNext says whether a line stands close under another, and has letters of its size.
func isNext(above, next line, pitch float64) bool {
	ratio := next.size / max(above.size, 1)
	return ratio > 0.88 && ratio < 1.12 && next.top-above.top <= 1.25*pitch*max(min(above.height(), next.height()), 1)
}

// isText tells running text from the cells of a table.
func (s setting) isText() bool {
	if s.inner > 0 && s.full == s.inner && s.words >= manyWords*s.inner {
		return true
	}
	return s.inner >= minColumnLines-1 && 2*s.full >= s.inner && 2*s.wordy >= s.inner
}

// isShort is a column of too few lines to be told from cells.
func (s setting) isShort() bool { return s.inner < minColumnLines-1 && s.lines <= minColumnLines }

// areRows says whether the paragraphs of two columns begin at the same heights, which those of rows
// do: three quarters of the fewer and at least three, or two single lines that stand far apart. Two
// bold lines do not count, which may be the headings of columns. height is that of a line.
func areRows(a, b setting, height float64) bool {
	if len(a.starts) > len(b.starts) {
		a, b = b, a
	}
	level := 0
	for _, start := range a.starts {
		if slices.ContainsFunc(b.starts, func(other line) bool {
			return math.Abs(start.top-other.top) <= height/3 && !(start.all && other.all)
		}) {
			level++
		}
	}
	if level == 2 && len(a.starts) == 2 && a.inner == 0 {
		return a.starts[1].top-a.starts[0].top > 3*height
	}
	return level > 2 && 4*level >= 3*len(a.starts)
}

// isIndex says whether the lines of a column are the entries of an index: most end with the number
// of a page, and they do not share their right edge, as the cells of a table with numbers do.
func (s setting) isIndex() bool {
	if s.lines < minIndexLines {
		return false
	}
	numbered := 0
	rights := map[float64]int{}
	for _, l := range s.all {
		if len(l.cells) > 1 {
			return false
		}
		if strings.ContainsAny(l.text[len(l.text)-1:], "0123456789") && strings.Contains(l.text, " ") {
			numbered++
		}
		rights[math.Round(l.right/2)]++
		if 2*rights[math.Round(l.right/2)] > s.lines {
			return false
		}
	}
	return 3*numbered >= 2*s.lines
}

// areColumns says whether what is left and right of a gutter is read one after the other: both are
// running text, or columns themselves, or one is and the other is short, or both are of an
// index.
func (o *orderer) areColumns(lefts, rights []span, looked int) bool {
	if areMarks(lefts) || areMarks(rights) {
		return false // the numbers of the paragraphs beside them
	}
	left, right := settingOf(lines(lefts)), settingOf(lines(rights))
	isLeft, isRight := left.isText(), right.isText()
	if (isLeft || isRight) && areRows(left, right, lefts[0].height()) {
		return false
	}
	if left.isIndex() && right.isIndex() {
		return true
	}
	isLeft, isRight = isLeft || o.hasGutter(lefts, looked), isRight || o.hasGutter(rights, looked)
	return isLeft && (isRight || right.isShort()) || isRight && left.isShort()
}

func areMarks(spans []span) bool {
	return !slices.ContainsFunc(spans, func(s span) bool { return !isMark(s.text) })
}

// hasGutter says whether a part has columns itself.
func (o *orderer) hasGutter(spans []span, looked int) bool {
	if len(spans) <= minColumnLines || looked >= 2 {
		return false
	}
	_, ok := o.findGutter(spans, looked+1)
	return ok
}
