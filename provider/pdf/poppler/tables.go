package poppler

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/pdf"
)

const (
	// minTableRows with several cells make a table.
	minTableRows = 2
	// maxRowStep is how far apart the rows of a table are, in heights of a line.
	maxRowStep = 4.0
	// columnGap is the least room between columns, in heights of a line.
	columnGap = 0.4
	// maxWrapped is the distance of the lines of a row at most, in that of the closest lines of a
	// table.
	maxWrapped = 1.2
	// maxTableColumns bounds what a table takes: its rows have a cell for each.
	maxTableColumns = 100
)

// tableEnd is where the table ends that begins at a line; start when none does.
func tableEnd(all []line, start int) int {
	if !isRow(all[start]) {
		return start
	}
	end, rows := start, 0
	var columns []span
	for i := start; i < len(all); i++ {
		l := all[i]
		if i > start && (l.top-all[i-1].top)/max(l.height(), 1) > maxRowStep {
			break
		}
		if isRow(l) || isTightRow(l) {
			cells := l.cells
			if !isRow(l) {
				cells = l.pieces
			}
			widened := merged(slices.Concat(columns, cells))
			if columns != nil && len(widened) < 2 || len(widened) > maxTableColumns {
				break
			}
			columns, end, rows = widened, i+1, rows+1
			continue
		}
		if !isContinuation(l, all[i-1], columns) && !isFirstCell(l, all[i-1], columns) {
			break
		}
	}
	// Lines after the last row may go on with its cells.
	for end < len(all) && end > start && rows >= minTableRows && !isRow(all[end]) && isContinuation(all[end], all[end-1], columns) {
		end++
	}
	if rows < minTableRows {
		return start
	}
	return end
}

func isRow(l line) bool { return len(l.cells) > 1 }

// isTightRow is a line with several pieces and room between all of them, in a table that has begun.
func isTightRow(l line) bool {
	for i := 1; i < len(l.pieces); i++ {
		if l.pieces[i].left-l.pieces[i-1].right < alignedGap*l.pieces[i].height() {
			return false
		}
	}
	return len(l.pieces) >= minAligned
}

// isContinuation is a line within one of the further columns, close under the row above it.
func isContinuation(l, above line, columns []span) bool {
	if len(columns) < 2 || l.top-above.top > 1.6*max(l.height(), 1) {
		return false
	}
	column, em := columnOf(columns, l.cells[0]), max(l.height(), 1)
	return column > 0 && (l.right <= columns[column].right+em || math.Abs(l.left-columns[column].left) < em/2)
}

// isFirstCell is a line within the first column, close under the row above it: its first cell goes
// on there, when another row follows. A bold line is the heading of rows.
func isFirstCell(l, above line, columns []span) bool {
	return len(columns) > 1 && !l.all && l.top-above.top <= 1.3*max(l.height(), 1) && l.right <= columns[0].right+max(l.height(), 1)
}

// merged joins pieces whose widths overlap into columns, from left to right.
func merged(cells []span) []span {
	slices.SortStableFunc(cells, func(a, b span) int { return cmp.Compare(a.left, b.left) })
	var columns []span
	for _, c := range cells {
		if last := len(columns) - 1; last >= 0 && c.left < columns[last].right {
			columns[last].right = max(columns[last].right, c.right)
			continue
		}
		columns = append(columns, span{left: c.left, right: c.right})
	}
	return columns
}

// columnOf is the column that a cell overlaps most.
func columnOf(columns []span, c span) int {
	best, bestOverlap := 0, -1e9
	for i, column := range columns {
		overlap := min(column.right, c.right) - max(column.left, c.left)
		if overlap > bestOverlap {
			best, bestOverlap = i, overlap
		}
	}
	return best
}

// columnsOf finds the columns of a table by the room between them, through which the pieces of few
// rows reach: a title over several columns does.
func columnsOf(block []line) []span {
	type edge struct {
		at   float64
		step int
	}
	var edges []edge
	heights, pieces := 0.0, 0
	for _, l := range block {
		for _, p := range l.pieces {
			edges = append(edges, edge{p.left, 1}, edge{p.right, -1})
			heights += p.height()
			pieces++
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.step, a.step)) })
	room, few := columnGap*heights/float64(max(pieces, 1)), len(block)/10
	var columns []span
	covered := 0
	for _, e := range edges {
		before := covered > few
		covered += e.step
		switch after := covered > few; {
		case after && !before:
			if last := len(columns) - 1; last < 0 || e.at-columns[last].right >= room {
				columns = append(columns, span{left: e.at, right: e.at})
			}
		case before && !after:
			columns[len(columns)-1].right = e.at
		}
	}
	return withSparse(columns, block)
}

// withSparse adds columns that few rows have a cell in.
func withSparse(columns []span, block []line) []span {
	all := slices.Clone(columns)
	for _, l := range block {
		for _, p := range l.pieces {
			if !slices.ContainsFunc(columns, func(c span) bool { return p.left < c.right+1 && p.right > c.left-1 }) {
				all = append(all, p)
			}
		}
		if len(all) > len(columns)+maxTableColumns {
			break
		}
	}
	return merged(all)
}

// tableBlock is a line a row, with a tab between cells. Cells that are missing are empty.
func tableBlock(block []line) pdf.Block {
	block = withoutFused(block)
	columns := columnsOf(block)
	if len(columns) > maxTableColumns || len(columns) < 2 {
		return textBlock(block)
	}
	lines := make([][]string, len(block))
	sizes := map[float64]int{}
	for i, l := range block {
		sizes[l.size] += len(l.text)
		lines[i] = cellsInColumns(l, columns)
	}
	var rows [][]string
	rowStep, wrappedStep := minRowStep(block, lines), wrappedStep(block, lines)
	for i, l := range block {
		isWrapped := i > 0 && (l.top-block[i-1].top <= wrappedStep ||
			lines[i][0] == "" && (len(l.cells) == 1 || l.top-block[i-1].top <= rowStep && !hasNumber(lines[i])))
		if isWrapped || i > 0 && areValues(block, i) {
			continueRow(rows[len(rows)-1], lines[i])
			continue
		}
		rows = append(rows, lines[i])
	}
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = strings.Join(row, "\t")
	}
	return placed(pdf.Block{Text: strings.Join(texts, "\n"), LinePoints: most(sizes), Table: true}, block)
}

// minRowStep is nearly how far the line of a row with a first cell is at least from the line above
// it. What stands closer under a line, without a first cell, goes on with the cells of the row.
func minRowStep(block []line, lines [][]string) float64 {
	step := math.Inf(1)
	for i := 1; i < len(block); i++ {
		if lines[i][0] != "" {
			step = min(step, 0.9*(block[i].top-block[i-1].top))
		}
	}
	if math.IsInf(step, 1) {
		return 0
	}
	return step
}

// wrappedStep is how far the lines of a row are apart at most, where rows have more room between
// them and most of several lines end with a line that lacks a cell; 0: lines are rows.
func wrappedStep(block []line, lines [][]string) float64 {
	pitch := math.Inf(1)
	for i := 1; i < len(block); i++ {
		pitch = min(pitch, block[i].top-block[i-1].top)
	}
	step := maxWrapped * pitch
	rows, wrapped := 0, 0 // of several lines
	for i := 1; i < len(block); i++ {
		isFurther := block[i].top-block[i-1].top <= step
		if isFurther && hasNumber(lines[i]) {
			return 0
		}
		if isLast := i+1 == len(block) || block[i+1].top-block[i].top > step; isFurther && isLast {
			rows++
			if slices.Contains(lines[i], "") {
				wrapped++
			}
		}
	}
	if rows < 2 || 3*wrapped < 2*rows {
		return 0
	}
	return step
}

// hasNumber says whether a cell is nothing but a number, which is no further line of another cell.
func hasNumber(cells []string) bool {
	return slices.ContainsFunc(cells, func(text string) bool {
		return strings.ContainsAny(text, "0123456789") && strings.Trim(text, "0123456789.,%+- ") == ""
	})
}

// areValues says whether a line has the values of a form, close under their names, which have
// smaller letters.
func areValues(block []line, i int) bool {
	l, above := block[i], block[i-1]
	step := l.top - above.top
	if len(l.cells) < 2 || len(above.cells) < 2 || l.size < largerLetters*above.size {
		return false
	}
	return step <= 1.5*max(l.height(), above.height()) && (i+1 == len(block) || step <= 0.7*(block[i+1].top-l.top))
}

// cellsInColumns are the texts of a line in each column.
func cellsInColumns(l line, columns []span) []string {
	cells := make([]joiner, len(columns))
	for _, p := range l.pieces {
		cell, between := &cells[columnOf(columns, p)], ""
		if gap := p.left - cell.right; gap < 0 && isTwice(cell.latest, p) && len(cell.texts) > 0 {
			continue
		} else if len(cell.texts) > 0 && (gap > wordGap*p.height() || cell.latest.spaced) {
			between = " "
		}
		cell.add(p, between)
	}
	row := make([]string, len(columns))
	for column := range cells {
		row[column] = strings.ReplaceAll(cells[column].done().text, "\t", " ")
	}
	return row
}

// continueRow adds the further lines of cells to them.
func continueRow(row, more []string) {
	for column, text := range more {
		if text != "" {
			if before, ok := strings.CutSuffix(row[column], softHyphen); ok {
				row[column] = before + text
				continue
			}
			row[column] = strings.TrimLeft(row[column]+" "+text, " ")
		}
	}
}
