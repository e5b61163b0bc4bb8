package poppler

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/pdf"
)

// heading is where the letters of a line go.
type heading int

const (
	unknownHeading heading = iota
	upward
	downward
	upsideDown
)

const (
	// turnedGap is the room from which two pieces of a turned line are cells, and turnedWordGap that
	// from which they are words where no piece has spaces; in sizes of the letters. The extent of a
	// piece is estimated.
	turnedGap, turnedWordGap = 1.2, 0.2
	// minSlanted is how many pieces a line has at least that runs neither along nor across the page.
	minSlanted = 3
)

// turnedLine is a line that does not run from left to right.
type turnedLine struct {
	pieces []span
	heading
}

// turnedBlocks reads what does not run from left to right, as it is read when the page is turned.
func (o *orderer) turnedBlocks(page sheet) []pdf.Block {
	all := turnedLines(page.turned)
	explicit := slices.ContainsFunc(page.turned, func(s span) bool { return s.spaced || strings.Contains(s.text, " ") })
	scale := 1.0
	if explicit {
		scale = scaleOf(all) // else the room between words is in it
	}
	frames := map[heading][]span{}
	for _, l := range all {
		frames[l.heading] = append(frames[l.heading], l.spans(page, scale, explicit)...)
	}
	var blocks []pdf.Block
	for _, h := range []heading{upward, downward, upsideDown} {
		for _, part := range o.regions(withoutCopies(frames[h])) {
			for _, block := range blocksOfRegion(lines(part)) {
				block.TopPoints, block.BottomPoints = 0, 0 // they are those of the turned page
				blocks = append(blocks, block)
			}
		}
	}
	return blocks
}

// turnedLines puts the pieces together that follow each other on a line. A line of one piece has
// the heading of most others, or runs upward.
func turnedLines(pieces []span) []turnedLine {
	var all []turnedLine
	votes := map[heading]int{}
	for _, s := range pieces {
		h := headingOf(s, s)
		if last := len(all) - 1; last >= 0 {
			before := all[last].pieces[len(all[last].pieces)-1]
			next := headingOf(before, s)
			if next != unknownHeading && (all[last].heading == unknownHeading || all[last].heading == next) {
				all[last].pieces, all[last].heading = append(all[last].pieces, s), next
				votes[next]++
				continue
			}
		}
		all = append(all, turnedLine{[]span{s}, h})
	}
	usual := upward
	if votes[downward] > votes[upward] {
		usual = downward
	}
	for i := range all {
		all[i].heading = cmp.Or(all[i].heading, usual)
	}
	return all
}

// headingOf says where a line goes from one of its pieces to the next; unknown: they are on two
// lines.
func headingOf(s, next span) heading {
	switch {
	case s.right < s.left && next.right < next.left && math.Abs(s.top-next.top) <= 1 && next.left <= s.left:
		return upsideDown
	case s.right < s.left || next.right < next.left || math.Abs(s.left-next.left) > 1 || s.top == next.top:
		return unknownHeading
	case next.top < s.top:
		return upward
	}
	return downward
}

// distance is how far the second piece begins behind the first.
func (l turnedLine) distance(s, next span) float64 {
	if l.heading == upsideDown {
		return s.left - next.left
	}
	return math.Abs(next.top - s.top)
}

// scaleOf is the median of how wide pieces are to how wide they were estimated, where the next
// begins close behind them.
func scaleOf(all []turnedLine) float64 {
	var ratios []float64
	for _, l := range all {
		for i := 1; i < len(l.pieces); i++ {
			s := l.pieces[i-1]
			estimated := s.size * emsOf(s.text)
			if ratio := l.distance(s, l.pieces[i]) / max(estimated, 1); ratio > 0.6 && ratio < 1.5 {
				ratios = append(ratios, ratio)
			}
		}
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// spans are the cells of a line as they lie when the page is turned. explicit says that the pieces
// of the page have their spaces.
func (l turnedLine) spans(page sheet, scale float64, explicit bool) []span {
	var cells []span
	end := 0.0 // of the last piece
	for i, s := range l.pieces {
		size := cmp.Or(s.size, s.height())
		cell := s
		switch l.heading {
		case downward:
			cell.left, cell.top = s.top, page.width-s.left
		case upsideDown:
			cell.left, cell.top = page.width-s.left, page.height-s.top
		case upward, unknownHeading:
			cell.left, cell.top = page.height-s.top, s.left
		}
		cell.right, cell.bottom = cell.left+scale*size*emsOf(s.text), cell.top+size
		gap := cell.left - end
		end = cell.right
		if i == 0 || gap > turnedGap*size {
			cells = append(cells, cell)
			continue
		}
		last := &cells[len(cells)-1]
		if last.spaced || s.led || !explicit && gap > turnedWordGap*size {
			last.text += " "
		}
		last.text, last.right, last.spaced = last.text+s.text, cell.right, s.spaced
	}
	return cells
}

// withoutSlanted takes the lines out that run across the page at an angle, such as "DRAFT" behind
// a text: each of their pieces begins where the one before it ends, a little higher or lower.
func withoutSlanted(spans []span) (straight []span, slanted []string) {
	straight = make([]span, 0, len(spans))
	for i := 0; i < len(spans); {
		end := i + 1
		for end < len(spans) && isSlantedStep(spans[end-1], spans[end]) && (end < i+2 ||
			(spans[end].top > spans[end-1].top) == (spans[i+1].top > spans[i].top)) {
			end++
		}
		if end-i < minSlanted {
			straight = append(straight, spans[i])
			i++
			continue
		}
		line := spans[i].text
		for j, s := range spans[i+1 : end] {
			if spans[i+j].spaced || s.led {
				line += " "
			}
			line += s.text
		}
		slanted = append(slanted, line)
		i = end
	}
	return straight, slanted
}

func isSlantedStep(s, next span) bool {
	step := math.Abs(next.top - s.top)
	return s.size == next.size && math.Abs(next.left-s.right) <= 0.15*s.height()+1 && step > 0.05*s.height() && step < 3*s.height()
}
