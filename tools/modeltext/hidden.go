package modeltext

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// unseen are elements whose content a reader does not see.
var unseen = map[el.Atom]bool{
	el.Script: true, el.Style: true, el.Template: true, el.Noscript: true, el.Svg: true, el.Math: true, el.Iframe: true,
	el.Object: true, el.Canvas: true, el.Noembed: true, el.Noframes: true, el.Datalist: true,
}

// empty are elements without content, which have no end tag.
var empty = map[el.Atom]bool{
	el.Area: true, el.Base: true, el.Br: true, el.Col: true, el.Embed: true, el.Hr: true, el.Img: true, el.Input: true, el.Link: true,
	el.Meta: true, el.Source: true, el.Track: true, el.Wbr: true,
}

// endedBy are elements whose end tag may be left out, with those that end them by beginning. A
// paragraph is ended by any block. Source: HTML, Optional tags.
var endedBy = map[el.Atom][]el.Atom{
	el.Li: {el.Li}, el.Dt: {el.Dt, el.Dd}, el.Dd: {el.Dt, el.Dd}, el.Option: {el.Option, el.Optgroup},
	el.Td: {el.Td, el.Th, el.Tr, el.Tbody, el.Tfoot}, el.Th: {el.Td, el.Th, el.Tr, el.Tbody, el.Tfoot}, el.Tr: {el.Tr, el.Tbody, el.Tfoot},
}

// holders are the elements that those of endedBy lie in.
var holders = map[el.Atom]bool{el.Ul: true, el.Ol: true, el.Menu: true, el.Dl: true, el.Table: true, el.Select: true}

// isHidden says that a browser does not show an element. Style sheets are not read.
func isHidden(token html.Token) bool {
	if unseen[token.DataAtom] {
		return true
	}
	for _, a := range token.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// hiddenElement is an element that is being skipped.
type hiddenElement struct {
	tag el.Atom
	// depth counts the elements of the same tag within each other, inner the holders within.
	depth, inner int
}

// skip returns whether the element goes on behind a token. When it does not, ended says that the
// token is still in the element, as its end tag is.
func (h *hiddenElement) skip(kind html.TokenType, tag el.Atom) (goesOn, ended bool) {
	begins, ends := kind == html.StartTagToken, kind == html.EndTagToken
	next, optional := endedBy[h.tag]
	switch {
	case !begins && !ends:
		return true, false
	case h.tag == el.P && (begins || tag != el.P) && blocks[tag]:
		return false, false
	case optional && h.inner == 0 && (begins && slices.Contains(next, tag) || ends && holders[tag]):
		return false, false
	case holders[tag] && begins:
		h.inner++
	case holders[tag] && ends:
		h.inner--
	}
	switch {
	case tag != h.tag:
	case begins:
		h.depth++
	case ends:
		h.depth--
	}
	return h.depth > 0, true
}
