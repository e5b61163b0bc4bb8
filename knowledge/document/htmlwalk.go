package document

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// htmlWalker turns a page's tree, which is at most 512 deep, into blocks.
type htmlWalker struct {
	b    *builder
	page page
	how  strictness
	// inMain is within <main> or <article>, where headers and asides belong to the text.
	inMain bool
	// line is the text that the next block boundary ends.
	line strings.Builder
	// level is added to that of every heading: chapters stand under the headings of their book.
	level int
	// anchors are headings that a table of contents gives to places in a chapter, by id.
	anchors map[string]anchor
	// awaited is the anchor passed last, until text or a heading comes.
	awaited anchor
	// inHeading is where links need no address, and buttons open the part below.
	inHeading bool
	// looked counts the nodes that were looked at ahead: nested elements that all make one look
	// would take quadratic time.
	looked int
}

// maxLooks is where looking ahead ends; a page for people needs a few for each node.
const maxLooks = 10_000_000

// below yields the nodes below one while there is leave to look ahead.
func (w *htmlWalker) below(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for d := range n.Descendants() {
			if w.looked++; w.looked > maxLooks || !yield(d) {
				return
			}
		}
	}
}

// anchor is a heading from a table of contents.
type anchor struct {
	title string
	level int
}

// node adds what stands at and below a node.
func (w *htmlWalker) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.inlineText(n)
		return
	case html.ElementNode:
		if w.skips(n) {
			return
		}
		w.pass(n)
	case html.DocumentNode:
	default:
		return
	}
	switch {
	case w.b.full:
	case n.Type == html.ElementNode && isInline(n.DataAtom) && !w.holdsBlocks(n):
		w.inline(&w.line, n)
	case headingLevels[n.DataAtom] > 0:
		w.flush()
		w.heading(n)
	default:
		w.block(n)
	}
}

// block adds an element that is neither inline nor a heading.
func (w *htmlWalker) block(n *html.Node) {
	if n.DataAtom != 0 || n.Type == html.DocumentNode {
		w.flush()
	}
	switch n.DataAtom {
	case el.Pre, el.Listing, el.Xmp, el.Plaintext:
		w.arrive()
		w.b.add(Code, strings.TrimPrefix(w.verbatim(n), "\n"))
	case el.Ul, el.Ol, el.Dir:
		w.add(List, w.list(n, ""))
	case el.Dl:
		w.add(List, w.definitions(n))
	case el.Table:
		w.table(n)
	case el.Noframes:
		w.fragment(n)
	case el.Article, el.Main:
		was := w.inMain
		w.inMain = true
		w.children(n)
		w.inMain = was
	default:
		w.children(n)
	}
	if n.DataAtom != 0 {
		w.flush()
	}
}

func (w *htmlWalker) children(n *html.Node) {
	for child := range n.ChildNodes() {
		w.node(child)
	}
}

// fragment reads what only a browser without frames would show.
func (w *htmlWalker) fragment(n *html.Node) {
	inner := pageOf(rawText(n))
	if inner.root == nil {
		return
	}
	inner.walk(w.b, leniently)
}

// holdsBlocks finds what may not, but does, stand in an inline element: <a><div>, <span><p>.
func (w *htmlWalker) holdsBlocks(n *html.Node) bool {
	for d := range w.below(n) {
		if d.Type == html.ElementNode && !isInline(d.DataAtom) && !neverShown[d.DataAtom] {
			return true
		}
	}
	return false
}

// flush ends the line as a paragraph.
func (w *htmlWalker) flush() {
	text := w.line.String()
	w.line.Reset()
	w.add(Paragraph, squeezedLines(text))
}

// add appends a block that is text.
func (w *htmlWalker) add(kind BlockKind, text string) {
	text = withoutSoftHyphens(text)
	if strings.TrimFunc(text, IsSpace) == "" {
		return
	}
	w.arrive()
	w.b.add(kind, text)
}

// pass remembers that a place is reached to which the table of contents gives a heading.
func (w *htmlWalker) pass(n *html.Node) {
	if len(w.anchors) == 0 {
		return
	}
	for _, key := range []string{"id", "name"} {
		id := attr(n, key)
		if found, ok := w.anchors[id]; ok && id != "" {
			delete(w.anchors, id)
			w.flush()
			w.arrive()
			w.awaited = found
		}
	}
}

// arrive gives the awaited heading before other text comes.
func (w *htmlWalker) arrive() {
	if w.awaited.title != "" {
		w.b.heading(w.awaited.level, w.awaited.title)
	}
	w.awaited = anchor{}
}

// heading adds a heading; where the table of contents has one of the same words for this place,
// its level counts.
func (w *htmlWalker) heading(n *html.Node) {
	var s strings.Builder
	w.inHeading = true
	w.inlineChildren(&s, n)
	w.inHeading = false
	title := squeezed(withoutSoftHyphens(s.String()))
	if title == "" {
		return
	}
	if w.awaited.title != "" && sameWords(w.awaited.title, title) {
		w.arrive()
		return
	}
	w.arrive()
	w.b.heading(w.level+headingLevels[n.DataAtom], title)
}

// sameWords compares titles as a reader does: one may have a number more, or be the beginning.
func sameWords(a, b string) bool {
	a, b = wordsOnly(a), wordsOnly(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) > 3 && (strings.HasSuffix(b, a) || strings.HasPrefix(b, a))
}

// flow renders what stands in an item, a cell or a definition: a line a block.
func (w *htmlWalker) flow(parent *html.Node, indent string) string {
	var lines, line strings.Builder
	end := func() {
		text := squeezedLines(line.String())
		line.Reset()
		if text != "" {
			writeLine(&lines, indent+strings.ReplaceAll(text, "\n", "\n"+indent))
		}
	}
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		if n.Type == html.TextNode {
			writeCollapsed(&line, n.Data)
			return
		}
		if n.Type != html.ElementNode || w.skips(n) {
			return
		}
		switch {
		case isInline(n.DataAtom) && !w.holdsBlocks(n):
			w.inline(&line, n)
			return
		case (n.DataAtom == el.Ul || n.DataAtom == el.Ol) && len(indent) < maxIndent: // deeper, items are lines
			end()
			writeLine(&lines, w.list(n, indent))
			return
		case n.DataAtom == el.Pre:
			end()
			writeLine(&lines, strings.Trim(w.verbatim(n), "\n"))
			return
		case n.DataAtom == el.Table:
			end()
			g := w.grid(n)
			writeLine(&lines, indent+strings.ReplaceAll(g.String(), "\n", "\n"+indent))
			return
		}
		end()
		for child := range n.ChildNodes() {
			visit(child)
		}
		end()
	}
	for child := range parent.ChildNodes() {
		visit(child)
	}
	end()
	return lines.String()
}
