package document

import (
	"strings"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// strictness says how much of a page is taken to be its frame.
type strictness int

const (
	// strictly leaves out the frame of a site, too.
	strictly strictness = iota
	// asChapter is for the chapters of a book, which have no frame, and asides that are notes.
	asChapter
	// asMarkdown is for a page made of Markdown: it has no frame, and its links keep their addresses.
	asMarkdown
	// leniently leaves out only what a browser does not show, and takes <noscript> in.
	leniently
)

func atoms(list ...el.Atom) map[el.Atom]bool {
	set := make(map[el.Atom]bool, len(list))
	for _, a := range list {
		set[a] = true
	}
	return set
}

var (
	// neverShown elements hold no text for readers.
	neverShown = atoms(el.Script, el.Style, el.Template, el.Head, el.Title, el.Svg, el.Canvas, el.Audio, el.Video,
		el.Iframe, el.Object, el.Embed, el.Map, el.Select, el.Datalist, el.Button, el.Input, el.Textarea,
		el.Rt, el.Rp, el.Applet, el.Progress, el.Meter)
	// framing elements are a site's own, not the page's.
	framing = atoms(el.Nav, el.Menu, el.Dialog)
	// inlineElements flow within a line; any other begins a new one.
	inlineElements = atoms(el.A, el.Abbr, el.Acronym, el.B, el.Bdi, el.Bdo, el.Big, el.Br, el.Cite,
		el.Code, el.Data, el.Del, el.Dfn, el.Em, el.Font, el.I, el.Img, el.Ins, el.Kbd,
		el.Label, el.Mark, el.Q, el.Rb, el.Ruby, el.S, el.Samp, el.Small, el.Span, el.Strike,
		el.Strong, el.Sub, el.Sup, el.Time, el.Tt, el.U, el.Var, el.Wbr, el.Math, el.Picture, el.Nobr)
	// headingLevels are the levels of headings.
	headingLevels = map[el.Atom]int{el.H1: 1, el.H2: 2, el.H3: 3, el.H4: 4, el.H5: 5, el.H6: 6}
	// framingRoles are the ARIA roles of a site's frame.
	framingRoles = map[string]bool{
		"navigation": true, "banner": true, "contentinfo": true, "search": true, "menu": true, "menubar": true,
		"dialog": true, "alertdialog": true, "toolbar": true, "tablist": true,
	}
	// framingNames are classes and ids that only a site's frame has.
	framingNames = map[string]bool{
		"navbar": true, "breadcrumb": true, "breadcrumbs": true, "cookie-banner": true, "cookie-consent": true,
		"cookie-notice": true, "cookie-bar": true, "cookieconsent": true, "consent-banner": true, "site-header": true,
		"site-footer": true, "site-nav": true, "skip-link": true, "skip-nav": true, "skiplink": true, "share-buttons": true,
		"social-share": true, "sharedaddy": true, "advertisement": true, "advert": true, "adsbygoogle": true,
		"newsletter-signup": true, "mw-editsection": true, "headerlink": true, "sr-only": true,
		"visually-hidden": true, "screen-reader-text": true, "noprint": true, "navbox": true, "mw-jump-link": true, "jump-to-nav": true,
		"pagination": true, "related-posts": true, "onetrust-consent-sdk": true,
	}
	// doubtfulNames are a frame's only where most of the text is links: a restaurant has a menu,
	// too.
	doubtfulNames = map[string]bool{
		"nav": true, "navigation": true, "menu": true, "topnav": true, "sidenav": true, "mainmenu": true, "main-nav": true,
		"main-menu": true, "sidebar": true, "side-bar": true, "footer": true, "header": true, "related": true, "share": true,
		"social": true, "toc": true, "table-of-contents": true, "tags": true, "links": true, "topbar": true, "language-switcher": true,
	}
)

func isInline(tag el.Atom) bool { return tag == 0 || inlineElements[tag] }

// isHidden reports what a browser does not show.
func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			if strings.EqualFold(a.Val, "true") && n.DataAtom != el.Body && n.DataAtom != el.Html {
				return true
			}
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// skips reports whether an element is left out.
func (w *htmlWalker) skips(n *html.Node) bool {
	if neverShown[n.DataAtom] {
		return n.DataAtom != el.Button || !w.inHeading
	}
	if w.how == leniently {
		return isHidden(n) && !hasNameOf(n, lateShown)
	}
	if n.DataAtom == el.Noscript || n.DataAtom == el.Noframes || isHidden(n) || framing[n.DataAtom] {
		return true
	}
	if w.how != strictly {
		return false
	}
	if n.DataAtom == el.Body || n.DataAtom == el.Main || n.DataAtom == el.Html {
		return false
	}
	if framingRoles[strings.ToLower(attr(n, "role"))] || hasNameOf(n, framingNames) {
		return true
	}
	if !w.inMain && (n.DataAtom == el.Footer || n.DataAtom == el.Aside || n.DataAtom == el.Header && !w.holds(n, el.H1)) {
		return true
	}
	return n.DataAtom != el.Article && hasNameOf(n, doubtfulNames) && w.isMostlyLinks(n)
}

// lateShown are hidden until a script has run; where they are all there is, they are the page.
var lateShown = map[string]bool{"app": true, "root": true, "content": true, "main": true}

// hasNameOf looks at an element's id and classes.
func hasNameOf(n *html.Node, names map[string]bool) bool {
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" {
			continue
		}
		for name := range strings.FieldsSeq(a.Val) {
			if names[strings.ToLower(name)] {
				return true
			}
		}
	}
	return false
}

func (w *htmlWalker) holds(n *html.Node, what el.Atom) bool {
	for d := range w.below(n) {
		if d.DataAtom == what {
			return true
		}
	}
	return false
}

// isMostlyLinks reports whether three fifths of the text below a node is in links.
func (w *htmlWalker) isMostlyLinks(n *html.Node) bool {
	total, linked := 0, 0
	var link *html.Node // the last one met: what follows may stand in it
	for d := range w.below(n) {
		if d.DataAtom == el.A {
			link = d
		}
		if d.Type != html.TextNode {
			continue
		}
		length := len(strings.TrimSpace(d.Data))
		if total += length; link != nil && isWithin(d, link) {
			linked += length
		}
	}
	return linked*5 >= total*3 && w.looked <= maxLooks
}

// isWithin looks a few elements up: links seldom hold more.
func isWithin(n, ancestor *html.Node) bool {
	for range 8 {
		if n = n.Parent; n == nil || n == ancestor {
			return n != nil
		}
	}
	return false
}
