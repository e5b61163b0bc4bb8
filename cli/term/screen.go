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
	// leastColumns is the minimum width for drawing; lines wrap on narrower terminals.
	leastColumns = 20
)

// LookupFunc looks up a variable of the environment.
type LookupFunc func(name string) (string, bool)

// Screen is the output of a command.
type Screen struct {
	Out io.Writer
	// Terminal reports whether Out is a terminal. Rows are redrawn only on terminals.
	Terminal bool
	// Colour reports whether colours are used.
	Colour bool

	lookup LookupFunc
	drawn  int
}

// Open returns the screen for out. It respects NO_COLOR and TERM=dumb.
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

// Size returns the current size of the terminal, or 80 × 24.
func (s *Screen) Size() (columns, rows int) {
	if columns, rows, ok := sizeOf(s.Out); ok && columns > 0 && rows > 0 {
		return max(columns, leastColumns), rows
	}
	return defaultColumns, defaultRows
}

// Columns returns the width of the terminal.
func (s *Screen) Columns() int {
	columns, _ := s.Size()
	return columns
}

// Line writes a line above the rows that are redrawn.
func (s *Screen) Line(format string, args ...any) {
	s.Draw([]string{fmt.Sprintf(format, args...)}, nil)
}

// Draw writes lines, and below them rows that replace the rows of the last call. Rows must not be
// wider than the screen. Rows are not written when Out is no terminal.
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
	_, _ = s.Out.Write(text.Bytes()) // there is nowhere to report that the output is closed
}

// Clear clears a terminal.
func (s *Screen) Clear() {
	if s.Terminal {
		_, _ = io.WriteString(s.Out, "\x1b[H\x1b[2J")
	}
}

// paint adds a colour to a text.
func (s *Screen) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Good colours a success. Cut and pad a text before it is coloured.
func (s *Screen) Good(text string) string { return s.paint("32", text) }

// Bad colours a failure.
func (s *Screen) Bad(text string) string { return s.paint("31", text) }

// Busy colours work in progress.
func (s *Screen) Busy(text string) string { return s.paint("36", text) }

// Dim colours details.
func (s *Screen) Dim(text string) string { return s.paint("2", text) }

// Strong emphasizes headings.
func (s *Screen) Strong(text string) string { return s.paint("1", text) }

// Bar is a bar of that many columns; share is the filled part, from 0 to 1.
func (s *Screen) Bar(share float64, columns int) string {
	full := int(share*float64(columns) + 0.5)
	full = max(0, min(full, columns))
	return s.Busy(strings.Repeat("━", full)) + s.Dim(strings.Repeat("─", columns-full))
}

// spins are the frames of Spin, one column each.
var spins = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Spin is a spinner that moves with time.
func (s *Screen) Spin(now time.Time) string {
	return s.Busy(spins[int(now.UnixMilli()/100)%len(spins)])
}
