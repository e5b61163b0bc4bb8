package document

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// list renders a list with a marker for each item, nested ones indented.
func (w *htmlWalker) list(list *html.Node, indent string) string {
	var s strings.Builder
	number := 1
	if start, err := strconv.Atoi(attr(list, "start")); err == nil {
		number = start
	}
	for item := range list.ChildNodes() {
		if item.Type != html.ElementNode || w.skips(item) {
			continue
		}
		if (item.DataAtom == el.Ul || item.DataAtom == el.Ol) && len(indent) < maxIndent { // not allowed, common
			writeLine(&s, w.list(item, deeper(indent)))
			continue
		}
		marker := "- "
		if list.DataAtom == el.Ol {
			if value, err := strconv.Atoi(attr(item, "value")); err == nil {
				number = value
			}
			marker = strconv.Itoa(number) + ". "
			number++
		}
		if body := strings.TrimLeft(w.flow(item, deeper(indent)), " \t\n"); body != "" {
			writeLine(&s, indent+marker+body)
		}
	}
	return s.String()
}

// maxIndent ends the nesting of lists, each of which is copied into the one above.
const maxIndent = 16

// deeper is the indentation of what stands within an item.
func deeper(indent string) string {
	if len(indent) >= maxIndent {
		return indent
	}
	return indent + "  "
}

// definitions renders "term: definition" lines.
func (w *htmlWalker) definitions(list *html.Node) string {
	var s strings.Builder
	term := ""
	for n := range list.Descendants() {
		switch n.DataAtom {
		case el.Dt:
			if text := squeezed(w.flow(n, "")); text != "" && term != "" {
				term += ", " + text
			} else {
				term = text
			}
		case el.Dd:
			text := strings.TrimLeft(w.flow(n, "  "), " \t\n")
			if term != "" && text != "" {
				text = term + ": " + text
			}
			writeLine(&s, text)
			term = ""
		}
	}
	writeLine(&s, term)
	return s.String()
}

// writeLine adds a line that is not empty.
func writeLine(s *strings.Builder, line string) {
	if line == "" {
		return
	}
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	s.WriteString(line)
}
