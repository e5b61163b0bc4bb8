package term

import "strings"

// gap separates the columns of a table.
const gap = "  "

// Column describes a column of a table.
type Column struct {
	Title string
	// Right aligns the column to the right.
	Right bool
	// Shrinks makes this column narrower when the screen is too narrow. At most one column shrinks.
	Shrinks bool
	// Drops says in which order columns are left out when shrinking is not enough: 1 is first, 0
	// never.
	Drops int
}

// Cell is one field of a table.
type Cell struct {
	Text string
	// Paint colours the padded text; it may be nil.
	Paint func(string) string
}

// leastShrunk is the minimum width of a column that shrinks.
const leastShrunk = 24

// Table formats a table with its titles. Nothing is shortened when Out is no terminal, so that
// scripts find whole names.
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

// shrink fits the columns to the screen if possible. A width of -1 leaves a column out.
func shrink(columns []Column, widths []int, screen int) {
	over := func() int {
		total := -len(gap)
		for _, width := range widths {
			if width >= 0 {
				total += width + len(gap)
			}
		}
		return total - screen
	}
	give := func(least int) {
		for i, column := range columns {
			if column.Shrinks && over() > 0 {
				widths[i] = max(widths[i]-over(), min(least, widths[i]))
			}
		}
	}
	give(leastShrunk)
	for next := 1; over() > 0 && next <= len(columns); next++ {
		for i, column := range columns {
			if column.Drops == next {
				widths[i] = -1
			}
		}
	}
	give(leastShrunk / 3)
}

func tableLine(columns []Column, widths []int, row []Cell) string {
	var line strings.Builder
	for i, cell := range row {
		if widths[i] < 0 {
			continue
		}
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
		if line.Len() > 0 {
			line.WriteString(gap)
		}
		line.WriteString(text)
	}
	return line.String()
}
