package document

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// voidElements have no end.
var voidElements = atoms(el.Area, el.Br, el.Col, el.Embed, el.Hr, el.Img, el.Input, el.Source, el.Track, el.Wbr)

// pageElements are those of a whole page, which a part of one cannot have.
var pageElements = atoms(el.Html, el.Head, el.Body, el.Frameset, el.Base, el.Plaintext)

// renderMarkdown makes HTML of CommonMark with tables. The HTML in it stays, so that what is hidden
// in it, such as scripts, is hidden together with the Markdown within; but what it opens and never
// closes, or never opened, is left out: it would swallow the rest of the page.
func renderMarkdown(source []byte) (string, error) {
	raw := &rawHTML{lastEnds: map[el.Atom]int{}, open: map[el.Atom]int{}}
	markdown := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(raw, 1))),
	)
	document := markdown.Parser().Parse(text.NewReader(source))
	if err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			raw.findEnds(source, n)
		}
		return ast.WalkContinue, nil
	}); err != nil {
		return "", err
	}
	var out bytes.Buffer
	err := markdown.Renderer().Render(&out, source, document)
	return out.String(), err
}

// rawHTML renders the HTML in a Markdown text.
type rawHTML struct {
	// lastEnds are the places in the source where the last end of an element stands, and open are the
	// elements that are rendered without their end so far.
	lastEnds, open map[el.Atom]int
}

// piece is the HTML of a node, and where it begins in the source; nil for other nodes.
func piece(source []byte, n ast.Node) (raw []byte, start int) {
	switch n := n.(type) {
	case *ast.HTMLBlock:
		if n.Lines().Len() == 0 {
			return nil, 0
		}
		raw, start = n.Lines().Value(source), n.Lines().At(0).Start
		if n.HasClosure() {
			raw = append(bytes.Clone(raw), n.ClosureLine.Value(source)...)
		}
	case *ast.RawHTML:
		if n.Segments.Len() > 0 {
			raw, start = n.Segments.Value(source), n.Segments.At(0).Start
		}
	}
	return raw, start
}

// findEnds remembers the elements that end in a node. The places are those of their pieces.
func (r *rawHTML) findEnds(source []byte, n ast.Node) {
	raw, start := piece(source, n)
	if raw == nil {
		return
	}
	tokens := html.NewTokenizer(bytes.NewReader(raw))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		if kind == html.EndTagToken {
			name, _ := tokens.TagName()
			r.lastEnds[el.Lookup(name)] = start
		}
	}
}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *rawHTML) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	render := func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			r.render(w, source, n)
		}
		return ast.WalkContinue, nil
	}
	register.Register(ast.KindHTMLBlock, render)
	register.Register(ast.KindRawHTML, render)
}

// render writes to memory, which does not fail.
func (r *rawHTML) render(w util.BufWriter, source []byte, n ast.Node) {
	raw, start := piece(source, n)
	tokens := html.NewTokenizer(bytes.NewReader(raw))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		written := bytes.Clone(tokens.Raw())
		name, _ := tokens.TagName()
		tag := el.Lookup(name)
		switch kind {
		case html.TextToken:
			_, _ = w.Write(written)
		case html.StartTagToken, html.SelfClosingTagToken:
			switch last, ends := r.lastEnds[tag]; {
			case tag == 0 || pageElements[tag]:
			case voidElements[tag]:
				_, _ = w.Write(written)
			case kind == html.StartTagToken && ends && last >= start:
				r.open[tag]++
				_, _ = w.Write(written)
			case neverFlat[tag] && n.Kind() == ast.KindHTMLBlock:
				return // its text would not be for readers
			}
		case html.EndTagToken:
			if r.open[tag] > 0 {
				r.open[tag]--
				_, _ = w.Write(written)
			}
		case html.CommentToken, html.DoctypeToken, html.ErrorToken:
		}
	}
}
