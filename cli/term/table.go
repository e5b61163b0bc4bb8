package term

import "strings"

// gap stands between the columns of a table.
const gap = "  "

// Column says how a column of a table is shown.
type Column struct {
	Title string
	// Right puts it at the right edge, as numbers are.
	Right bool
	// Shrinks gives this column up first when the screen is too narrow; one of them at most.
	Shrinks bool
}

// Cell is one field of a table.
type Cell struct {
	Text string
	// Paint colours the padded text; nil: as it is.
	Paint func(string) string
}

// Table are the lines of a table, titles first. Where nobody looks nothing is cut, so that a
// script finds whole names.
func (s *Screen) Table(columns []Column, rows [][]Cell) []string {
	widths := make([]int, len(columns))
	for i, column := range columns {
		widths[i] = Width(column.Title)
		for _, row := range rows {
			widths[i] = max(widths[i], Width(row[i].Text))
		}
	}
	if s.Terminal {
		shrink(columns, widths, s.Columns())
	}
	titles := make([]Cell, len(columns))
	for i, column := range columns {
		titles[i] = Cell{Text: column.Title, Paint: s.Dim}
	}
	lines := []string{tableLine(columns, widths, titles)}
	for _, row := range rows {
		lines = append(lines, tableLine(columns, widths, row))
	}
	return lines
}

// shrink makes the columns fit the screen where they can.
func shrink(columns []Column, widths []int, screen int) {
	const least = 12
	total := len(gap) * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	for i, column := range columns {
		if column.Shrinks && total > screen {
			widths[i] = max(widths[i]-(total-screen), min(least, widths[i]))
		}
	}
}

func tableLine(columns []Column, widths []int, row []Cell) string {
	var line strings.Builder
	for i, cell := range row {
		text := Pad(cell.Text, widths[i])
		if columns[i].Right {
			text = strings.Repeat(" ", max(widths[i]-Width(cell.Text), 0)) + cell.Text
		}
		if i == len(row)-1 && !columns[i].Right {
			text = strings.TrimRight(text, " ")
		}
		if cell.Paint != nil {
			text = cell.Paint(text)
		}
		if i > 0 {
			line.WriteString(gap)
		}
		line.WriteString(text)
	}
	return line.String()
}
