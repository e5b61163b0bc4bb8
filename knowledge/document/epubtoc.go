package document

import (
	"encoding/xml"
	"strings"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// maxContentsLevel bounds the levels of headings that a table of contents makes.
const maxContentsLevel = 6

// tocEntry is a line of the table of contents.
type tocEntry struct {
	title    string
	fragment string
	// level is 1 for the outermost.
	level int
}

// readContents gives the entries by part. A book may have no table of contents.
func readContents(a *archive, book epubPackage) (map[string][]tocEntry, error) {
	contents := make(map[string][]tocEntry)
	for _, id := range book.manifest {
		item := book.items[id]
		if !strings.Contains(" "+item.properties+" ", " nav ") || a.find(item.name) == nil {
			continue
		}
		data, err := a.read(item.name)
		if err != nil {
			return nil, err
		}
		text, err := decodeText(data, metaCharset(data))
		if err != nil {
			return nil, err
		}
		if p := pageOf(text); p.root != nil {
			readNav(p.root, item.name, contents)
		}
		if len(contents) > 0 {
			return contents, nil
		}
	}
	name := book.items[book.ncx].name
	for _, id := range book.manifest {
		item := book.items[id]
		if name == "" && item.mediaType == "application/x-dtbncx+xml" {
			name = item.name
		}
	}
	if name == "" || a.find(name) == nil {
		return contents, nil
	}
	err := withDoctype(a, name, func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			if start.Name.Local == "navMap" {
				return readNavPoints(x, name, 1, contents)
			}
			return x.skip()
		})
	})
	return contents, err
}

// readNav reads the lists of <nav epub:type="toc">, or of the only nav.
func readNav(root *html.Node, from string, contents map[string][]tocEntry) {
	var nav *html.Node
	for n := range root.Descendants() {
		if n.DataAtom != el.Nav {
			continue
		}
		if nav == nil || attr(n, "epub:type") == "toc" || attr(n, "role") == "doc-toc" {
			nav = n
		}
		if attr(n, "epub:type") == "toc" {
			break
		}
	}
	if nav == nil {
		return
	}
	var lists func(n *html.Node, level int)
	lists = func(n *html.Node, level int) {
		for child := range n.ChildNodes() {
			switch child.DataAtom {
			case el.Ol, el.Ul:
				lists(child, level+1)
			case el.A:
				addEntry(contents, from, attr(child, "href"), rawText(child), level)
			default:
				lists(child, level)
			}
		}
	}
	lists(nav, 0)
}

// readNavPoints reads the children of navMap or of a navPoint.
func readNavPoints(x *xmlReader, from string, level int, contents map[string][]tocEntry) error {
	title := ""
	return x.children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "navPoint":
			return readNavPoints(x, from, level+1, contents)
		case "navLabel":
			text, err := x.text()
			title = text
			return err
		case "content":
			addEntry(contents, from, attribute(start, "src"), title, level-1)
		}
		return x.skip()
	})
}

// addEntry adds a line; one without a place or words is a mere grouping.
func addEntry(contents map[string][]tocEntry, from, href, title string, level int) {
	if title = squeezed(title); title == "" || href == "" {
		return
	}
	_, fragment, _ := strings.Cut(href, "#")
	part := linked(from, href)
	contents[part] = append(contents[part], tocEntry{title: title, fragment: fragment, level: min(max(level, 1), maxContentsLevel)})
}
