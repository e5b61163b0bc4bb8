package document

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// maxAddressBytes is the longest address that is kept: longer ones are for counting clicks.
const maxAddressBytes = 200

// inlineText adds loose text to the line.
func (w *htmlWalker) inlineText(n *html.Node) { writeCollapsed(&w.line, n.Data) }

// writeCollapsed keeps newlines for <br>: those of the file are spaces.
func writeCollapsed(s *strings.Builder, text string) {
	s.WriteString(strings.NewReplacer("\n", " ", "\t", " ").Replace(text))
}

// squeezedLines squeezes each line of a text.
func squeezedLines(text string) string {
	var s strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		writeLine(&s, squeezed(line))
	}
	return s.String()
}

func (w *htmlWalker) inlineChildren(s *strings.Builder, n *html.Node) {
	for child := range n.ChildNodes() {
		switch child.Type {
		case html.TextNode:
			writeCollapsed(s, child.Data)
		case html.ElementNode:
			if !w.skips(child) {
				if w.how != leniently {
					w.passInline(child)
				}
				w.inline(s, child)
			}
		}
	}
}

// passInline is pass within a line: the heading comes before the line.
func (w *htmlWalker) passInline(n *html.Node) {
	if found, ok := w.anchors[attr(n, "id")]; ok && attr(n, "id") != "" && w.awaited.title == "" {
		delete(w.anchors, attr(n, "id"))
		w.awaited = found
	}
}

// inline adds the text of an element within a line.
func (w *htmlWalker) inline(s *strings.Builder, n *html.Node) {
	switch n.DataAtom {
	case el.Br:
		s.WriteByte('\n')
	case el.Wbr:
	case el.Img:
		if alt := squeezed(attr(n, "alt")); alt != "" {
			s.WriteString(" " + alt + " ")
		}
	case el.A:
		w.link(s, n)
	case el.Q:
		s.WriteString("“")
		w.inlineChildren(s, n)
		s.WriteString("”")
	case el.Math:
		if alt := squeezed(attr(n, "alttext")); alt != "" {
			s.WriteString(alt)
			return
		}
		w.inlineChildren(s, n)
	default:
		w.inlineChildren(s, n)
	}
}

// link keeps the text, and the address where it leads away from the page's own site.
func (w *htmlWalker) link(s *strings.Builder, n *html.Node) {
	var inner strings.Builder
	w.inlineChildren(&inner, n)
	text := squeezedLines(inner.String())
	if strings.Trim(text, "¶#§🔗 ") == "" {
		return // a heading's link to itself
	}
	// The space around a link may stand within it.
	if raw := inner.String(); unicode.IsSpace(rune(raw[0])) {
		s.WriteByte(' ')
	}
	s.WriteString(text)
	address := w.address(attr(n, "href"))
	switch {
	case w.how == asMarkdown && address != text:
		writeAddress(s, attr(n, "href"))
	case w.how != asMarkdown && !w.inHeading && !strings.Contains(address, text):
		writeAddress(s, address)
	}
	if raw := inner.String(); unicode.IsSpace(rune(raw[len(raw)-1])) {
		s.WriteByte(' ')
	}
}

// address is where a link leads, absolute; empty within the page's site.
func (w *htmlWalker) address(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || href == "" || strings.HasPrefix(href, "#") || len(href) > maxAddressBytes {
		return ""
	}
	if w.page.base != nil {
		u = w.page.base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == w.page.home {
		return ""
	}
	return u.String()
}

// verbatim is text whose white space counts.
func (w *htmlWalker) verbatim(n *html.Node) string {
	var s strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			s.WriteString(d.Data)
		case d.DataAtom == el.Br:
			s.WriteByte('\n')
		}
	}
	return s.String()
}

// table adds a table as rows; one that only lays out a page is read as the page.
func (w *htmlWalker) table(n *html.Node) {
	if isLayout(n) {
		w.children(n)
		return
	}
	for child := range n.ChildNodes() {
		if child.DataAtom == el.Caption {
			w.add(Paragraph, w.flow(child, ""))
		}
	}
	g := w.grid(n)
	w.add(Table, g.String())
}

// maxCellBytes is what a cell of a table without headers may hold; more is a page's column.
const maxCellBytes = 600

// isLayout finds tables that hold headings, tables or code, have but one column, or name no
// column and hold long texts.
func isLayout(table *html.Node) bool {
	role := attr(table, "role")
	if role == "presentation" || role == "none" {
		return true
	}
	widest, cells, text, longest, headed := 0, 0, 0, 0, false
	for n := range table.Descendants() {
		switch {
		case n.Type == html.TextNode:
			text += len(strings.TrimSpace(n.Data))
			longest = max(longest, text)
		case n.DataAtom == el.Table, n.DataAtom == el.Pre, headingLevels[n.DataAtom] > 0:
			return true
		case n.DataAtom == el.Tr:
			cells = 0
		case n.DataAtom == el.Td, n.DataAtom == el.Th:
			cells++
			text = 0
			widest = max(widest, cells)
			headed = headed || n.DataAtom == el.Th
		}
	}
	return widest < 2 || !headed && longest > maxCellBytes
}

// grid reads the cells of a table.
func (w *htmlWalker) grid(table *html.Node) *grid {
	g := grid{plain: w.how == asMarkdown}
	var rows func(parent *html.Node, head bool)
	rows = func(parent *html.Node, head bool) {
		for n := range parent.ChildNodes() {
			switch {
			case n.Type != html.ElementNode || w.skips(n):
			case n.DataAtom == el.Tr:
				cells, header := w.cells(n)
				g.row(cells, head || header)
			case n.DataAtom == el.Thead, n.DataAtom == el.Tbody, n.DataAtom == el.Tfoot:
				rows(n, n.DataAtom == el.Thead)
			}
		}
	}
	rows(table, false)
	return &g
}

// cells reads a row; header says that all its cells are headers.
func (w *htmlWalker) cells(row *html.Node) (cells []cell, header bool) {
	header = true
	for n := range row.ChildNodes() {
		if n.DataAtom != el.Td && n.DataAtom != el.Th || w.skips(n) {
			continue
		}
		text := strings.ReplaceAll(withoutSoftHyphens(w.flow(n, "")), "\n", " ")
		header = header && (n.DataAtom == el.Th || text == "")
		cells = append(cells, cell{text: text, columns: number(attr(n, "colspan")), rows: number(attr(n, "rowspan"))})
	}
	return cells, header && len(cells) > 1
}

// number is a count in the file, at least 1.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// wordsOnly is a text in lower case without anything but letters and digits.
func wordsOnly(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
