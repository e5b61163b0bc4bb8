package document

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

const (
	// maxTreeBytes is the largest page that is made a tree, which takes about ten times as much
	// memory; a larger one is read token by token.
	maxTreeBytes = 16 << 20
	// maxTreeTags likewise: a tag left open comes again in each paragraph.
	maxTreeTags = 400_000
	// metaBytes is how far into a page its charset may be declared. Source: HTML, "prescan".
	metaBytes = 4096
)

// parseHTML reads a page: what stands for a reader in it, without navigation, scripts, styles,
// hidden parts and the frame that a site puts around each page. The title heads it when there is no
// h1.
func parseHTML(data []byte, charset string, limits Limits) (Document, error) {
	if charset == "" || encodingNamed(charset) == nil {
		charset = metaCharset(data)
	}
	text, err := decodeText(data, charset)
	if err != nil {
		return Document{}, err
	}
	b := builder{limit: limits.MaxTextBytes}
	text = withoutSubset(text)
	page := pageOf(text)
	if page.root == nil {
		b.flatHTML(text)
		return b.finish()
	}
	if title := page.title(); title != "" && !page.has(el.H1) {
		b.heading(0, title)
	}
	before := len(b.doc.Blocks)
	page.walk(&b, strictly)
	if len(b.doc.Blocks) == before {
		page.walk(&b, leniently) // a page that is all navigation is a page of links
	}
	return b.finish()
}

// metaPattern finds the charset that a page or an XML declaration names.
var metaPattern = regexp.MustCompile(`(?i)(?:<meta\s[^>]*?charset\s*=\s*["']?\s*|<\?xml\s[^>]*?encoding\s*=\s*["'])([a-z0-9_:.-]+)`)

// metaCharset is the declared charset; UTF-16 in a declaration that could be read as ASCII is a
// mistake for UTF-8. Source: HTML, "prescan".
func metaCharset(data []byte) string {
	found := metaPattern.FindSubmatch(data[:min(len(data), metaBytes)])
	if found == nil {
		return ""
	}
	name := strings.ToLower(string(found[1]))
	if strings.HasPrefix(name, "utf-16") {
		return "utf-8"
	}
	return name
}

// subsetPattern is a document type with declarations of its own, as XHTML may have. HTML knows
// none, and takes what follows the first > in them for text.
var subsetPattern = regexp.MustCompile(`(?i)<!doctype\s[^<>\[\]]*(\[(?:[^\]"'<]|"[^"]*"|'[^']*'|<!--(?:[^-]|-[^-])*-->` +
	`|<[!?](?:[^"'<>]|"[^"]*"|'[^']*')*>)*\]\s*)>`)

// withoutSubset takes those declarations out.
func withoutSubset(text string) string {
	const within = 64 << 10
	found := subsetPattern.FindStringSubmatchIndex(text[:min(len(text), within)])
	if found == nil {
		return text
	}
	return text[:found[2]] + text[found[3]:]
}

// page is a parsed page.
type page struct {
	// root is nil for a text that is nested too deeply or too large for a tree.
	root *html.Node
	base *url.URL
	// home is the page's own host: links within one site are not worth their address.
	home string
}

// selfClosed are XHTML's empty elements that HTML would not see the end of: <title/> would
// swallow the page.
var selfClosed = regexp.MustCompile(`<(title|script|style|iframe|textarea|noscript|noframes|xmp|a|p|div|span|td|th|li|i|b|em` +
	`|strong)((?:\s[^<>]*)?)/>`)

// pageOf makes the tree.
func pageOf(text string) page {
	if len(text) > maxTreeBytes || strings.Count(text, "<") > maxTreeTags {
		return page{}
	}
	if isXHTML(text) {
		text = selfClosed.ReplaceAllString(text, "<$1$2></$1>")
	}
	root, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil { // over 512 nested elements
		return page{}
	}
	p := page{root: root}
	p.base, p.home = addresses(root)
	return p
}

func isXHTML(text string) bool {
	head := strings.ToLower(text[:min(len(text), 1024)])
	return strings.HasPrefix(strings.TrimSpace(head), "<?xml") || strings.Contains(head, "//dtd xhtml") ||
		strings.Contains(head, "http://www.w3.org/1999/xhtml")
}

// addresses are the base that links are relative to, and the host that the page says it is on.
func addresses(root *html.Node) (base *url.URL, home string) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		address := ""
		switch {
		case n.DataAtom == el.Base:
			address = attr(n, "href")
		case n.DataAtom == el.Link && attr(n, "rel") == "canonical":
			address = attr(n, "href")
		case n.DataAtom == el.Meta && attr(n, "property") == "og:url":
			address = attr(n, "content")
		}
		if u, err := url.Parse(strings.TrimSpace(address)); err == nil && u.Host != "" {
			if n.DataAtom == el.Base && base == nil {
				base = u
			} else if home == "" {
				home = u.Host
			}
		}
	}
	return base, home
}

// title is what the head says.
func (p page) title() string {
	for n := range p.root.Descendants() {
		if n.DataAtom == el.Title && n.Parent != nil && n.Parent.DataAtom == el.Head {
			return squeezed(withoutSoftHyphens(rawText(n)))
		}
	}
	return ""
}

// has reports whether an element with text is shown.
func (p page) has(what el.Atom) bool {
	for n := range p.root.Descendants() {
		if n.DataAtom == what && squeezed(rawText(n)) != "" && !isHidden(n) {
			return true
		}
	}
	return false
}

// walk adds the page's blocks: those of its main part, if it names one that holds a good part
// of the text.
func (p page) walk(b *builder, how strictness) {
	w := htmlWalker{b: b, page: p, how: how}
	from := p.root
	if how == strictly {
		from = mainPart(p.root)
		w.inMain = from != p.root
	}
	w.node(from)
	w.flush()
}

// mainPart is <main>, or the only <article>, where it holds a third of the text of the page.
func mainPart(root *html.Node) *html.Node {
	var mains, articles []*html.Node
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == el.Main || n.Type == html.ElementNode && attr(n, "role") == "main":
			mains = append(mains, n)
		case n.DataAtom == el.Article:
			articles = append(articles, n)
		}
	}
	candidates := mains
	if len(candidates) == 0 {
		candidates = articles
	}
	if len(candidates) != 1 || 3*shownBytes(candidates[0]) < shownBytes(root) {
		return root
	}
	return candidates[0]
}

// shownBytes is about how much text an element shows outside of navigation.
func shownBytes(n *html.Node) int {
	if n.Type == html.TextNode {
		return len(strings.TrimSpace(n.Data))
	}
	if n.Type == html.ElementNode && (neverShown[n.DataAtom] || framing[n.DataAtom] || isHidden(n)) {
		return 0
	}
	total := 0
	for child := range n.ChildNodes() {
		total += shownBytes(child)
	}
	return total
}

// attr is the value of an attribute, or empty.
func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// rawText is all the text below a node, as it stands in the file.
func rawText(n *html.Node) string {
	var s strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			s.WriteString(d.Data)
		}
	}
	return s.String()
}

// neverFlat are the elements that flatHTML leaves out: those that must have an end.
var neverFlat = atoms(el.Script, el.Style, el.Template, el.Title, el.Textarea, el.Iframe, el.Select, el.Svg)

// flatHTML reads a page token by token: paragraphs, headings, code, without any judgement of
// what is navigation.
func (b *builder) flatHTML(text string) {
	tokens := html.NewTokenizer(strings.NewReader(text))
	var buffer bytes.Buffer
	kind, level, hidden := Paragraph, 0, el.Atom(0)
	flush := func() {
		line := withoutSoftHyphens(buffer.String())
		buffer.Reset()
		switch {
		case level > 0:
			b.heading(level, line)
		case kind == Code:
			b.add(Code, line)
		default:
			b.add(kind, squeezed(line))
		}
	}
	for !b.full {
		token := tokens.Next()
		if token == html.ErrorToken {
			flush()
			return
		}
		if token == html.TextToken && hidden == 0 {
			buffer.Write(tokens.Text())
			continue
		}
		name, _ := tokens.TagName()
		tag := el.Lookup(name)
		switch {
		case hidden != 0:
			if token == html.EndTagToken && tag == hidden {
				hidden = 0
			}
		case token == html.StartTagToken && neverFlat[tag]:
			hidden = tag
		case !isInline(tag) && (token == html.StartTagToken || token == html.EndTagToken || token == html.SelfClosingTagToken):
			flush()
			kind, level = Paragraph, 0
			if token == html.StartTagToken {
				level = headingLevels[tag]
				if tag == el.Pre {
					kind = Code
				}
			}
		}
	}
}
