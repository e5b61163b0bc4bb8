package speakable

import "strings"

// shortLine is the length in bytes under which a line that ends without punctuation is
// taken for one that was broken on purpose, as in an address: there is a pause after it. Longer
// lines were wrapped.
const shortLine = 40

// markdown reads an answer block by block: a paragraph, a heading, an item of a list, a row of a
// table. It removes the markup and leaves plain text.
//
//	       ┌─ a line of text ──► inLine ─┐
//	lineStart ◄──── line break ──────────┤
//	       └─ ``` ──► inCode ── ``` ─────┘
type markdown struct {
	language *language
	// raw is what has not been read, offset where it begins in the answer.
	raw    string
	offset int
	place  place
	// plain is what was read of the block and not taken, textEnd the offset where its last line ends.
	plain   plain
	textEnd int
	// closed is whether the block has ended. Nothing is read before all of plain was taken.
	closed bool
	// single is whether the block ends with its line.
	single bool
	// lineFrom is the offset where the text of the line begins, pause whether the line before was
	// broken on purpose, quoted whether the block is a quotation.
	lineFrom int
	pause    bool
	quoted   bool
	// item is the number of the last item of an ordered list, 0 outside of one.
	item int
	// header has the cells of the first row of a table, fence the line that ends a block of code.
	header []string
	fence  string
}

// place is where in a block the reader is.
type place int

const (
	lineStart place = iota
	inLine
	inCode
)

// step reads what can be understood without knowing what follows, and reports whether it has read
// or closed anything. final is whether nothing follows.
func (m *markdown) step(final bool) bool {
	if m.closed {
		return false
	}
	if m.raw == "" {
		atEnd := final && (len(m.plain.text) > 0 || m.place == inLine)
		if atEnd {
			m.end()
		}
		return atEnd
	}
	switch m.place {
	case inCode:
		return m.skipCode(final)
	case inLine:
		return m.readLine(final)
	default:
		return m.startLine(final)
	}
}

// consume moves on by n bytes.
func (m *markdown) consume(n int) {
	m.raw = m.raw[n:]
	m.offset += n
}

// end closes the block.
func (m *markdown) end() {
	m.closed, m.single, m.quoted = true, false, false
	if m.place == inLine {
		m.textEnd = m.offset
		m.place = lineStart
	}
}

// readLine reads text up to the end of its line.
func (m *markdown) readLine(final bool) bool {
	n := m.inline(m.raw, m.offset, final, &m.plain)
	m.consume(n)
	if !strings.HasPrefix(m.raw, "\n") {
		return n > 0
	}
	m.textEnd = m.offset
	m.pause = m.offset-m.lineFrom < shortLine
	m.consume(1)
	m.place = lineStart
	if m.single {
		m.end()
	}
	return true
}

// startLine finds out what kind of block a line begins or continues.
func (m *markdown) startLine(final bool) bool {
	rest := strings.TrimLeft(m.raw, " \t\r")
	indent := len(m.raw) - len(rest)
	if rest == "" {
		if final {
			m.consume(indent)
		}
		return final
	}
	if rest[0] == '\n' {
		m.consume(indent + 1)
		m.header = nil
		m.end()
		return true
	}
	b := m.recognize(rest, final)
	switch {
	case b.unknown:
		return false
	case b.kind != continued && len(m.plain.text) > 0 && (b.kind != quote || !m.quoted):
		m.end() // the block before
		return true
	}
	if b.kind != row {
		m.header = nil
	}
	m.consume(indent)
	m.begin(b)
	return true
}

// begin reads the beginning of a block.
func (m *markdown) begin(b block) {
	switch b.kind {
	case silent:
		m.consume(b.length)
	case quote:
		m.quoted = true
		m.consume(b.length)
	case code:
		m.fence, m.place = b.fence, inCode
		m.plain.insert(m.language.codeBlock, m.offset)
		m.textEnd = m.offset + len(strings.TrimRight(m.raw[:b.length], "\r\n"))
		m.consume(b.length)
		m.closed = true
	case row:
		m.readRow(m.raw[:b.length])
		m.consume(b.length)
	default:
		m.beginText(b)
	}
}

// beginText begins a line of text: one with a marker before it, or one that continues a paragraph.
func (m *markdown) beginText(b block) {
	switch b.kind {
	case ordered:
		m.item = b.number
		m.plain.copy(m.raw[:b.digits], m.offset)
		m.plain.insert(": ", m.offset+b.length)
		m.consume(b.length)
	case item, heading:
		m.consume(b.length)
		m.single = b.kind == heading
	default:
		if len(m.plain.text) > 0 {
			if m.pause && isWordRune(m.plain.last()) {
				m.plain.insert(",", m.textEnd)
			}
			m.plain.space(m.textEnd)
		}
	}
	if b.kind != continued {
		m.item = b.number
	}
	m.lineFrom, m.place = m.offset, inLine
}

// skipCode leaves out lines up to the one that ends the block of code.
func (m *markdown) skipCode(final bool) bool {
	end := strings.IndexByte(m.raw, '\n')
	if end < 0 {
		if !final {
			return false
		}
		end = len(m.raw) - 1
	}
	line := strings.TrimSpace(m.raw[:end+1])
	m.consume(end + 1)
	if strings.HasPrefix(line, m.fence) && strings.Trim(line, m.fence[:1]) == "" {
		m.place = lineStart
	}
	return true
}

// readRow reads a row of a table with the line break after it. The first row has the names of the
// columns, which are said with each cell: "Plan: Basic, Price: $5".
func (m *markdown) readRow(line string) {
	cells, offsets := splitRow(line)
	if m.header == nil {
		m.header = make([]string, len(cells))
		for i, cell := range cells {
			var name plain
			m.inline(cell, m.offset+offsets[i], true, &name)
			m.header[i] = strings.TrimSpace(string(name.text))
		}
		return
	}
	if strings.Trim(line, "|-: \t\r\n") == "" {
		return // the line under the header
	}
	for i, cell := range cells {
		at := m.offset + offsets[i]
		if cell == "" {
			continue
		}
		if len(m.plain.text) > 0 {
			m.plain.insert(", ", at)
		}
		if i < len(m.header) && m.header[i] != "" {
			m.plain.insert(m.header[i]+": ", at)
		}
		m.inline(cell, at, true, &m.plain)
		m.textEnd = at + len(cell)
	}
	m.closed = true
}

// splitRow returns the cells of a row without the spaces around them, and where they begin.
func splitRow(line string) (cells []string, offsets []int) {
	start := 1
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
			continue
		case '|', '\n':
		default:
			if i < len(line)-1 {
				continue
			}
			i++ // the row ends without a bar
		}
		cell := line[start:min(i, len(line))]
		trimmed := strings.TrimLeft(cell, " \t")
		offset := start + len(cell) - len(trimmed)
		trimmed = strings.TrimRight(trimmed, " \t\r")
		if i < len(line) && line[i] == '\n' && trimmed == "" {
			break
		}
		cells, offsets = append(cells, trimmed), append(offsets, offset)
		start = i + 1
	}
	return cells, offsets
}
