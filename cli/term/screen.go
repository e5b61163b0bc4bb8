package term

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	defaultColumns, defaultRows = 80, 24
	// leastColumns is what drawing assumes at least; narrower terminals wrap.
	leastColumns = 20
)

// LookupFunc finds a variable of the environment.
type LookupFunc func(name string) (string, bool)

// Screen is where a command writes, and what is known about it.
type Screen struct {
	Out io.Writer
	// Terminal says whether a person is looking; else no row is ever drawn twice.
	Terminal bool
	// Colour says whether to use it.
	Colour bool

	lookup LookupFunc
	drawn  int
}

// Open looks at where a command writes to. NO_COLOR and TERM=dumb are obeyed.
func Open(out io.Writer, lookup LookupFunc) *Screen {
	s := &Screen{Out: out, lookup: lookup}
	s.Terminal = IsTerminal(out)
	if kind, _ := lookup("TERM"); kind == "dumb" {
		s.Terminal = false
	}
	plain, _ := lookup("NO_COLOR") // https://no-color.org: any value but the empty one
	s.Colour = s.Terminal && plain == ""
	return s
}

// Size is the terminal's size now; 80 × 24 where there is none.
func (s *Screen) Size() (columns, rows int) {
	if columns, rows, ok := sizeOf(s.Out); ok && columns > 0 && rows > 0 {
		return max(columns, leastColumns), rows
	}
	return defaultColumns, defaultRows
}

// Columns is Size's first.
func (s *Screen) Columns() int {
	columns, _ := s.Size()
	return columns
}

// Line writes a line that stays, above the rows that are drawn.
func (s *Screen) Line(format string, args ...any) {
	s.Draw([]string{fmt.Sprintf(format, args...)}, nil)
}

// Draw writes the lines that stay, and below them rows in place of those drawn before. The rows
// must fit: a row that wraps is not found again. Where nobody looks, rows are not written.
func (s *Screen) Draw(stay, rows []string) {
	var text bytes.Buffer
	if s.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", s.drawn)
	}
	for _, line := range stay {
		fmt.Fprintf(&text, "%s\n", line)
	}
	s.drawn = 0
	if s.Terminal {
		for _, row := range rows {
			fmt.Fprintf(&text, "%s\n", row)
		}
		s.drawn = len(rows)
	}
	_, _ = s.Out.Write(text.Bytes()) // whoever looked is gone
}

// Clear empties a terminal, to draw a whole page.
func (s *Screen) Clear() {
	if s.Terminal {
		_, _ = io.WriteString(s.Out, "\x1b[H\x1b[2J")
	}
}

// paint wraps a text in a colour.
func (s *Screen) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Good is for what went well. A text is coloured after it was cut and padded.
func (s *Screen) Good(text string) string { return s.paint("32", text) }

// Bad is for what failed.
func (s *Screen) Bad(text string) string { return s.paint("31", text) }

// Busy is for what goes on.
func (s *Screen) Busy(text string) string { return s.paint("36", text) }

// Dim is for what matters less.
func (s *Screen) Dim(text string) string { return s.paint("2", text) }

// Strong is for headings.
func (s *Screen) Strong(text string) string { return s.paint("1", text) }

// Bar is a bar of so many columns, a share from 0 to 1 of it full.
func (s *Screen) Bar(share float64, columns int) string {
	full := int(share*float64(columns) + 0.5)
	full = max(0, min(full, columns))
	return s.Busy(strings.Repeat("━", full)) + s.Dim(strings.Repeat("─", columns-full))
}

// spins are the pictures of something that goes on; each is one column.
var spins = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Spin is a picture that moves with time.
func (s *Screen) Spin(now time.Time) string {
	return s.Busy(spins[int(now.UnixMilli()/100)%len(spins)])
}
