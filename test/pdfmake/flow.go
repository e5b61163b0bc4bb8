package pdfmake

import "strings"

// widths are those of Helvetica's characters from the space to the tilde, in thousandths of the
// size.
var widths = [...]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// Width of a line of Regular in points; other characters count as a digit.
func Width(size float64, line string) float64 {
	sum := 0.0
	for _, r := range line {
		if r >= ' ' && int(r-' ') < len(widths) {
			sum += widths[r-' ']
		} else {
			sum += 556
		}
	}
	return sum * size / 1000
}

// Wrap breaks a text into lines of at most so many points. A word may say with a soft hyphen
// (U+00AD) where it can be broken; it then gets a real one.
func Wrap(size, width float64, text string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		plain := strings.ReplaceAll(word, "\u00AD", "")
		candidate := strings.TrimLeft(line+" "+plain, " ")
		if Width(size, candidate) <= width || line == "" && !strings.Contains(word, "\u00AD") {
			line = candidate
			continue
		}
		parts := strings.Split(word, "\u00AD")
		for cut := len(parts) - 1; cut > 0; cut-- {
			broken := strings.TrimLeft(line+" "+strings.Join(parts[:cut], "")+"-", " ")
			if Width(size, broken) <= width {
				lines, line, plain = append(lines, broken), "", strings.Join(parts[cut:], "")
				break
			}
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = plain
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Flow sets text from top to bottom in a column.
type Flow struct {
	Page *Page
	// X and Y are where the next line begins; Y is its upper edge.
	X, Y float64
	// Width of the column.
	Width float64
}

// Column begins a column on a page.
func (p *Page) Column(x, y, width float64) *Flow { return &Flow{Page: p, X: x, Y: y, Width: width} }

// Paragraph sets a text and leaves a little room below it.
func (f *Flow) Paragraph(font Font, size float64, text string) *Flow {
	for _, line := range Wrap(size, f.Width, text) {
		f.Page.Text(font, size, f.X, f.Y+size, line)
		f.Y += size * 1.2
	}
	f.Y += size * 0.8
	return f
}

// Table sets rows of cells at equal distances, with lines around them when ruled.
func (f *Flow) Table(size float64, ruled bool, rows ...[]string) *Flow {
	top := f.Y
	step := size * 1.8
	for _, row := range rows {
		for i, cell := range row {
			f.Page.Text(Regular, size, f.X+4+float64(i)*f.Width/float64(len(row)), f.Y+size*1.2, cell)
		}
		if ruled {
			f.Page.Line(f.X, f.Y, f.X+f.Width, f.Y)
		}
		f.Y += step
	}
	if ruled {
		f.Page.Line(f.X, f.Y, f.X+f.Width, f.Y)
		for i := range len(rows[0]) + 1 {
			x := f.X + float64(i)*f.Width/float64(len(rows[0]))
			f.Page.Line(x, top, x, f.Y)
		}
	}
	f.Y += size
	return f
}
