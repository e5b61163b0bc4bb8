package poppler

import (
	"cmp"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/pdf"
)

const (
	// minTableRows with several cells make a table.
	minTableRows = 2
	// maxRowStep is how far apart the rows of a table are, in heights of a line.
	maxRowStep = 4.0
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
		if isRow(l) {
			widened := merged(slices.Concat(columns, l.cells))
			if columns != nil && len(widened) < 2 || len(widened) > maxTableColumns {
				break
			}
			columns, end, rows = widened, i+1, rows+1
			continue
		}
		if !isContinuation(l, all[i-1], columns) {
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

// isContinuation is a line within one of the further columns, close under the row above it.
func isContinuation(l, above line, columns []span) bool {
	if len(columns) < 2 || l.top-above.top > 1.6*max(l.height(), 1) {
		return false
	}
	column := columnOf(columns, l.cells[0])
	return column > 0 && l.right <= columns[column].right+max(l.height(), 1)
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

// tableBlock is a line a row, with a tab between cells. Cells that are missing are empty.
func tableBlock(block []line) pdf.Block {
	var all []span
	for _, l := range block {
		all = append(all, l.cells...)
	}
	columns := merged(all)
	var rows [][]string
	sizes := map[float64]int{}
	for i, l := range block {
		sizes[l.size] += len(l.text)
		row := make([]string, len(columns))
		for _, c := range l.cells {
			column := columnOf(columns, c)
			row[column] = strings.TrimLeft(row[column]+" "+strings.ReplaceAll(c.text, "\t", " "), " ")
		}
		if i > 0 && len(l.cells) == 1 && row[0] == "" {
			above := rows[len(rows)-1]
			for column, text := range row {
				if text != "" {
					above[column] = strings.TrimLeft(above[column]+" "+text, " ")
				}
			}
			continue
		}
		rows = append(rows, row)
	}
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = strings.Join(row, "\t")
	}
	return placed(pdf.Block{Text: strings.Join(texts, "\n"), LinePoints: most(sizes), Table: true}, block)
}
