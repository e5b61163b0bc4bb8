package document

import (
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
	for _, item := range book.Manifest {
		if !item.isNav() || a.find(item.Name) == nil {
			continue
		}
		data, err := a.read(item.Name)
		if err != nil {
			return nil, err
		}
		text, err := decodeText(data, metaCharset(data))
		if err != nil {
			return nil, err
		}
		if p := pageOf(text); p.root != nil {
			readNav(p.root, item.Name, contents)
		}
		if len(contents) > 0 {
			return contents, nil
		}
	}
	name := book.items[book.Spine.NCX].Name
	for _, item := range book.Manifest {
		if name == "" && strings.EqualFold(item.MediaType, "application/x-dtbncx+xml") {
			name = item.Name
		}
	}
	if name == "" || a.find(name) == nil {
		return contents, nil
	}
	var ncx struct {
		Points []navPoint `xml:"navMap>navPoint"`
	}
	err := decodePart(a, name, &ncx)
	addPoints(contents, name, ncx.Points, 1)
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

// navPoint is an entry of the table of contents of EPUB 2, with those below it.
type navPoint struct {
	Title   string `xml:"navLabel>text"`
	Content struct {
		Address string `xml:"src,attr"`
	} `xml:"content"`
	Points []navPoint `xml:"navPoint"`
}

func addPoints(contents map[string][]tocEntry, from string, points []navPoint, level int) {
	for _, point := range points {
		addEntry(contents, from, point.Content.Address, point.Title, level)
		addPoints(contents, from, point.Points, level+1)
	}
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
