package document

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

const (
	// maxNesting is how many quote and list markers may begin a line. goldmark recurses once a
	// level, and no document for people comes near.
	maxNesting = 32
	// maxMarkdownParagraphBytes bounds a paragraph: the inline parser takes quadratic time on
	// runs of unmatched brackets and asterisks.
	maxMarkdownParagraphBytes = 32 << 10
	// maxFrontMatterBytes is how far the closing line of front matter is searched for.
	maxFrontMatterBytes = 64 << 10
)

// markdown makes HTML of CommonMark with tables.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(rawHTML{}, 1))),
)

// parseMarkdown reads CommonMark with tables, as the page that it makes. Front matter is left out.
// A text that is Markdown by name only (absurd nesting, endless paragraphs) is read as plain text.
func parseMarkdown(data []byte, charset string, limits Limits) (Document, error) {
	text, err := decodeText(data, charset)
	if err != nil {
		return Document{}, err
	}
	text = skipFrontMatter(text)
	if !isTame(text) {
		return plainDocument(text), nil
	}
	var rendered bytes.Buffer
	if err := markdown.Convert([]byte(text), &rendered); err != nil {
		return Document{}, errCorrupt(err, "The Markdown could not be read.")
	}
	b := builder{limit: limits.MaxTextBytes}
	if page := pageOf(rendered.String()); page.root != nil {
		page.walk(&b, asMarkdown)
	} else {
		b.flatHTML(rendered.String())
	}
	return b.finish()
}

// skipFrontMatter drops a leading block between two lines of --- (YAML) or +++ (TOML).
func skipFrontMatter(s string) string {
	for _, fence := range []string{"---", "+++"} {
		if !strings.HasPrefix(s, fence+"\n") {
			continue
		}
		head := s[:min(len(s), maxFrontMatterBytes)]
		at := len(fence)
		for line := range strings.SplitSeq(head[at+1:], "\n") {
			at += 1 + len(line)
			if strings.TrimRight(line, " \t") == fence {
				return strings.TrimPrefix(s[min(at, len(s)):], "\n")
			}
		}
	}
	return s
}

// isTame reports whether goldmark will be quick and shallow on the text.
func isTame(s string) bool {
	for paragraph := range paragraphs(s) {
		if len(paragraph) > maxMarkdownParagraphBytes {
			return false
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		prefix := line[:len(line)-len(strings.TrimLeft(line, " \t>*+-.)0123456789"))]
		if strings.Count(prefix, ">")+strings.Count(prefix, "- ")+strings.Count(prefix, "* ")+
			strings.Count(prefix, "+ ")+strings.Count(prefix, ". ")+strings.Count(prefix, ") ") > maxNesting ||
			len(prefix)-len(strings.TrimLeft(prefix, " \t")) > 8*maxNesting {
			return false
		}
	}
	return true
}

// rawHTML renders HTML that stands in Markdown as its text. What it may open and never close would
// swallow the rest of the page.
type rawHTML struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (rawHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("<p>" + html.EscapeString(htmlText(string(n.Lines().Value(source)))) + "</p>\n") // to memory
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if tag, ok := n.(*ast.RawHTML); ok && entering && bytes.HasPrefix(bytes.ToLower(tag.Segments.Value(source)), []byte("<br")) {
			_, _ = w.WriteString("<br>") // to memory
		}
		return ast.WalkContinue, nil
	})
}

// writeAddress keeps where a link leads: an answer made from the text may need to give it.
func writeAddress(s *strings.Builder, address string) {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		s.WriteString(" (" + address + ")")
	}
}

// htmlText is the text of an HTML fragment on one line.
func htmlText(fragment string) string {
	var b builder
	b.flatHTML(fragment)
	return squeezed(b.document().Text)
}
