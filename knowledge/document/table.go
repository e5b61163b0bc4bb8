package document

import "strings"

const (
	// maxPlainRows and maxPlainBytes are how large a table may be to have its header in the same
	// chunk as its rows; the rows of a larger one name their columns themselves.
	maxPlainRows  = 12
	maxPlainBytes = 1200
	// maxTableColumns bounds spans, which are a number in the file.
	maxTableColumns = 200
	// maxRowSpan likewise.
	maxRowSpan = 1000
	// maxRepeatedBytes is how much text the cells over several rows may add to a table.
	maxRepeatedBytes = 256 << 10
)

// cell is one cell of a table as written in the file.
type cell struct {
	text string
	// columns and rows that it covers, at least 1.
	columns, rows int
}

// grid is a table being read. A cell over several rows stands in each, so that a row says all
// it has to say alone; one over several columns stands in the first.
type grid struct {
	rows [][]gridCell
	// headers is the number of leading rows that are headers. plain leaves their names out of the rows
	// below.
	headers int
	plain   bool
	// open are the cells that reach down, by column.
	open     map[int]openCell
	bytes    int
	repeated int
}

type gridCell struct {
	text string
	// spanned cells are the further columns of the one to their left.
	spanned bool
}

type openCell struct {
	cell gridCell
	left int
}

// row adds a row; header says that it names the columns.
func (g *grid) row(cells []cell, header bool) {
	var line []gridCell
	if g.open == nil {
		g.open = map[int]openCell{}
	}
	fill := func() {
		for len(line) < maxTableColumns {
			above, ok := g.open[len(line)]
			if !ok {
				return
			}
			if above.left--; above.left > 0 {
				g.open[len(line)] = above
			} else {
				delete(g.open, len(line))
			}
			if g.repeated += len(above.cell.text); g.repeated > maxRepeatedBytes {
				above.cell.text = ""
			}
			line = append(line, above.cell)
		}
	}
	for _, c := range cells {
		fill()
		text := squeezed(c.text)
		for column := range min(max(c.columns, 1), maxTableColumns-min(len(line), maxTableColumns)) {
			one := gridCell{text: text, spanned: column > 0}
			if c.rows > 1 {
				g.open[len(line)] = openCell{gridCell{shortened(text, maxPathChars), one.spanned}, min(c.rows, maxRowSpan) - 1}
			}
			line = append(line, one)
		}
	}
	fill()
	if !hasText(line) {
		return
	}
	if header && g.headers == len(g.rows) {
		g.headers++
	}
	for _, c := range line {
		g.bytes += len(c.text)
	}
	g.rows = append(g.rows, line)
}

func hasText(line []gridCell) bool {
	for _, c := range line {
		if c.text != "" {
			return true
		}
	}
	return false
}

// String renders a line a row, "a | b". In a large table with a header, each row under it is
// "Name: a | Size: b".
func (g *grid) String() string {
	named := !g.plain && g.headers > 0 && g.headers < len(g.rows) && (len(g.rows) > maxPlainRows || g.bytes > maxPlainBytes)
	names := g.names()
	var s strings.Builder
	for i, line := range g.rows {
		if i > 0 {
			s.WriteByte('\n')
		}
		last := -1
		var parts []string
		for column, c := range line {
			if c.spanned {
				continue
			}
			text := c.text
			if named && i >= g.headers && text != "" && column < len(names) && names[column] != "" && names[column] != text {
				text = names[column] + ": " + text
			}
			if parts = append(parts, text); text != "" {
				last = len(parts)
			}
		}
		s.WriteString(strings.Join(parts[:max(last, 0)], " | "))
	}
	return s.String()
}

// names are the columns' names: those of several header rows one after the other.
func (g *grid) names() []string {
	var names []string
	for _, line := range g.rows[:g.headers] {
		for column, c := range line {
			for len(names) <= column {
				names = append(names, "")
			}
			if c.text != "" && !strings.HasSuffix(names[column], c.text) {
				names[column] = shortened(strings.TrimSpace(names[column]+" "+c.text), 60)
			}
		}
	}
	return names
}
