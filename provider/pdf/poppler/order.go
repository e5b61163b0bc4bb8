package poppler

import (
	"cmp"
	"math"
	"slices"
)

const (
	// minColumnLines is how many lines a column has at least that is known by itself. A shorter one
	// is known by the column beside it.
	minColumnLines = 4
	// minGutter is the least room between columns, in heights of a line.
	minGutter = 0.4
	// maxColumns beside each other; a newspaper has six.
	maxColumns = 8
	// maxEdges are tried as the left edge of a column.
	maxEdges = 16
	// maxLooks is how many pieces are looked at for columns in a file, each once for each edge that
	// is tried; a page of a book takes some thousands.
	maxLooks = 100_000_000
)

// orderer finds the order of pieces. It is for one file, and bounds the work for it.
type orderer struct{ looks int }

// regions divides the pieces of a page, or a part of one, into parts that are read one after the
// other: what stands across columns, then the columns from left to right.
func (o *orderer) regions(spans []span) [][]span {
	runs, pieces := runsOf(spans)
	var parts [][]span
	for _, part := range o.columns(runs, 0) {
		var all []span
		for _, run := range part {
			all = append(all, pieces[run]...)
		}
		parts = append(parts, all)
	}
	return parts
}

// runsOf joins the pieces that stand beside each other with less room than there is between
// columns, and gives those of each run. A line is one run, or one in each column.
func runsOf(spans []span) (runs []span, pieces map[span][]span) {
	pieces = make(map[span][]span, len(spans))
	add := func(row []span) {
		run := joiner{}
		for _, s := range row {
			run.add(s, " "[:min(len(run.texts), 1)])
		}
		runs = append(runs, run.done())
		pieces[runs[len(runs)-1]] = append(pieces[runs[len(runs)-1]], row...)
	}
	for _, l := range lines(spans) {
		start := 0
		for i := 1; i < len(l.pieces); i++ {
			if l.pieces[i].left-l.pieces[i-1].right >= minGutter*l.pieces[i].height() {
				add(l.pieces[start:i])
				start = i
			}
		}
		add(l.pieces[start:])
	}
	return runs, pieces
}

// columns divides the runs of a part of a page.
func (o *orderer) columns(spans []span, depth int) [][]span {
	if depth >= maxColumns || len(spans) <= minColumnLines {
		return [][]span{spans}
	}
	gutter, ok := o.findGutter(spans, 0)
	if !ok {
		return [][]span{spans}
	}
	slices.SortStableFunc(spans, byTop)
	var parts [][]span
	var left, right, across []span
	flush := func() {
		if len(left) > 0 {
			parts = append(parts, o.columns(left, depth+1)...)
		}
		if len(right) > 0 {
			parts = append(parts, o.columns(right, depth+1)...)
		}
		left, right = nil, nil
	}
	for i, s := range spans {
		side := gutter.side(s)
		if side == acrossIt || side == leftOfIt && len(across) > 0 && gutter.isTail(across[len(across)-1], spans[i:]) {
			flush()
			across = append(across, s)
			continue
		}
		if len(across) > 0 {
			parts, across = append(parts, across), nil
		}
		if side == leftOfIt {
			left = append(left, s)
		} else {
			right = append(right, s)
		}
	}
	flush()
	if len(across) > 0 {
		parts = append(parts, across)
	}
	return parts
}

func byTop(a, b span) int { return cmp.Or(cmp.Compare(a.top, b.top), cmp.Compare(a.left, b.left)) }

// gutter is the room between two columns.
type gutter struct{ from, to float64 }

type side int

const (
	leftOfIt side = iota
	rightOfIt
	acrossIt
)

func (g gutter) side(s span) side {
	switch {
	case s.right <= g.from+1:
		return leftOfIt
	case s.left >= g.to-1:
		return rightOfIt
	}
	return acrossIt
}

// isTail says whether the first of some pieces is the short last line of what stands across: it is
// close under it, and nothing is right of it.
func (g gutter) isTail(above span, pieces []span) bool {
	s := pieces[0]
	if s.all != above.all || math.Abs(s.size-above.size) > 0.5 || s.top-above.top > headingStep*above.height() {
		return false
	}
	for _, other := range pieces[1:] {
		if other.top >= s.bottom {
			break
		}
		if g.side(other) != leftOfIt {
			return false
		}
	}
	return true
}

// findGutter looks for an edge at which lines begin beside others, with room before it that few
// lines cross. looked is how many columns away from the whole page these pieces are.
func (o *orderer) findGutter(spans []span, looked int) (gutter, bool) {
	best, bestScore := gutter{}, 0.0
	edges := leftEdges(spans)
	for _, edge := range edges[:min(len(edges), maxEdges>>(2*looked))] {
		g, score := o.judgeEdge(spans, edge, looked)
		if score > bestScore {
			best, bestScore = g, score
		}
	}
	return best, bestScore > 0
}

// leftEdges are where a column may begin: what several pieces share, and what has something to its
// left at the same height. The most frequent come first.
func leftEdges(spans []span) []float64 {
	type edge struct {
		at    float64
		count int
	}
	var lefts []edge
	for _, l := range lines(spans) {
		for i, p := range l.pieces {
			at := edge{at: p.left}
			if i > 0 && p.left-l.pieces[i-1].right >= minGutter*p.height() {
				at.count = minColumnLines
			}
			lefts = append(lefts, at)
		}
	}
	slices.SortFunc(lefts, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var edges []edge
	for i := 0; i < len(lefts); {
		one := edge{at: lefts[i].at}
		for ; i < len(lefts) && lefts[i].at < one.at+2; i++ {
			one.count += 1 + lefts[i].count
		}
		if one.count >= minColumnLines {
			edges = append(edges, one)
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return b.count - a.count })
	out := make([]float64, 0, maxEdges)
	for _, e := range edges[:min(len(edges), maxEdges)] {
		out = append(out, e.at)
	}
	return out
}

// judgeEdge says how many pieces would be read better with columns at an edge; 0: none.
func (o *orderer) judgeEdge(spans []span, edge float64, looked int) (gutter, float64) {
	g := gutter{to: edge}
	if o.looks += len(spans); o.looks > maxLooks {
		return g, 0
	}
	heights := 0.0
	var rightEdges []float64
	for _, s := range spans {
		heights += s.height()
		if s.right <= edge-1 {
			rightEdges = append(rightEdges, s.right)
		}
	}
	if len(rightEdges) == 0 || heights == 0 {
		return g, 0
	}
	slices.Sort(rightEdges)
	usual := rightEdges[len(rightEdges)*9/10]
	for _, s := range spans {
		// What begins in the room itself, like the number of the page, is of no column.
		if s.right <= edge-1 && s.left < usual-1 {
			g.from = max(g.from, s.right)
		}
	}
	if g.from == 0 || g.to-g.from < minGutter*heights/float64(len(spans)) {
		return g, 0
	}
	var lefts, rights, across []span
	for _, s := range spans {
		switch g.side(s) {
		case leftOfIt:
			lefts = append(lefts, s)
		case rightOfIt:
			rights = append(rights, s)
		case acrossIt:
			across = append(across, s)
		}
	}
	shorter, crossing := min(len(lefts), len(rights)), crossings(lefts, rights, across)
	if crossing > shorter || beside(lefts, rights) < 0.4 || !o.areColumns(lefts, rights, looked) {
		return g, 0
	}
	return g, float64(shorter) / (8 + float64(crossing))
}

// crossings counts the pieces across a gutter at the heights where there are columns on both sides.
func crossings(lefts, rights, across []span) int {
	if len(lefts) == 0 || len(rights) == 0 {
		return 0
	}
	leftTop, leftBottom := extent(lefts)
	rightTop, rightBottom := extent(rights)
	count := 0
	for _, s := range across {
		if s.top >= max(leftTop, rightTop) && s.bottom <= min(leftBottom, rightBottom) {
			count++
		}
	}
	return count
}

// beside is how much of the lower of two columns stands beside the other.
func beside(a, b []span) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	aTop, aBottom := extent(a)
	bTop, bBottom := extent(b)
	shorter := min(aBottom-aTop, bBottom-bTop)
	if shorter <= 0 {
		return 0
	}
	return (min(aBottom, bBottom) - max(aTop, bTop)) / shorter
}

func extent(spans []span) (top, bottom float64) {
	top, bottom = spans[0].top, spans[0].bottom
	for _, s := range spans {
		top, bottom = min(top, s.top), max(bottom, s.bottom)
	}
	return top, bottom
}
