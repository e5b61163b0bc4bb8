package document

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
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

// parseMarkdown reads CommonMark with tables: heading paths, code blocks whole, tables a line a
// row, lists a line an item, links with their address. Front matter is left out. A text that is
// Markdown by name only (absurd nesting, endless paragraphs) is read as plain text.
func parseMarkdown(data []byte, charset string, _ Limits) (Document, error) {
	decoded, err := decodeText(data, charset)
	if err != nil {
		return Document{}, err
	}
	decoded = skipFrontMatter(decoded)
	if !isTame(decoded) {
		return plainDocument(decoded), nil
	}
	source := []byte(decoded)
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
	w := markdownWalker{source: source}
	w.blocks(markdown.Parser().Parse(text.NewReader(source)))
	return w.b.document(), nil
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

// markdownWalker turns the tree into blocks.
type markdownWalker struct {
	b      builder
	source []byte
}

// blocks adds the children of a container.
func (w *markdownWalker) blocks(parent ast.Node) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		switch n := node.(type) {
		case *ast.Heading:
			w.b.heading(n.Level, w.inline(n))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			w.b.add(Code, w.lines(n))
		case *ast.List:
			w.b.add(List, w.list(n, ""))
		case *extast.Table:
			w.b.add(Table, w.table(n))
		case *ast.HTMLBlock:
			w.b.add(Paragraph, htmlText(w.lines(n)))
		case *ast.Blockquote:
			w.blocks(n)
		case *ast.ThematicBreak:
		default:
			w.b.add(Paragraph, w.inline(n))
		}
	}
}

// lines is the raw text of a leaf block.
func (w *markdownWalker) lines(n ast.Node) string {
	var s strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		s.Write(line.Value(w.source))
	}
	return s.String()
}

// list renders a list with a marker for each item, nested ones indented.
func (w *markdownWalker) list(list *ast.List, indent string) string {
	var s strings.Builder
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "- "
		if list.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		body := strings.TrimLeft(w.item(item, indent+"  "), " \t\n")
		s.WriteString(indent + marker + body + "\n")
	}
	return strings.TrimRight(s.String(), "\n")
}

// item renders what is in a list item, a line a block.
func (w *markdownWalker) item(item ast.Node, indent string) string {
	var parts []string
	for node := item.FirstChild(); node != nil; node = node.NextSibling() {
		switch n := node.(type) {
		case *ast.List:
			parts = append(parts, w.list(n, indent))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			parts = append(parts, strings.TrimRight(w.lines(n), "\n"))
		case *extast.Table:
			parts = append(parts, w.table(n))
		case *ast.HTMLBlock:
			parts = append(parts, indent+htmlText(w.lines(n)))
		case *ast.Blockquote:
			parts = append(parts, w.item(n, indent))
		case *ast.ThematicBreak:
		default:
			parts = append(parts, indent+w.inline(n))
		}
	}
	return strings.Join(parts, "\n")
}

// table renders the header and each row as "a | b".
func (w *markdownWalker) table(table *extast.Table) string {
	var rows []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.ReplaceAll(w.inline(cell), "\n", " "))
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	return strings.Join(rows, "\n")
}

// inline is the text of a block's inline nodes, without markup.
func (w *markdownWalker) inline(n ast.Node) string {
	var s strings.Builder
	w.writeInline(&s, n)
	return strings.TrimSpace(s.String())
}

// writeInline recurses over inline nodes; isTame bounds the depth with the paragraph's length.
func (w *markdownWalker) writeInline(s *strings.Builder, parent ast.Node) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		switch n := node.(type) {
		case *ast.Text:
			// Code spans hold their text raw; elsewhere backslashes and entities are markup.
			if _, raw := parent.(*ast.CodeSpan); raw || n.IsRaw() {
				s.Write(n.Value(w.source))
			} else {
				s.WriteString(unescape(string(n.Value(w.source))))
			}
			switch {
			case n.HardLineBreak():
				s.WriteByte('\n')
			case n.SoftLineBreak():
				s.WriteByte(' ')
			}
		case *ast.String:
			s.Write(n.Value)
		case *ast.AutoLink:
			s.Write(n.Label(w.source))
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(w.source)); strings.HasPrefix(strings.ToLower(tag), "<br") {
				s.WriteByte('\n')
			}
		case *ast.Link:
			w.writeInline(s, n)
			writeAddress(s, string(n.Destination))
		case *ast.Image:
			w.writeInline(s, n) // the alternative text
		case *extast.TaskCheckBox:
			s.WriteString(map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked])
		default:
			w.writeInline(s, n)
		}
	}
}

// writeAddress keeps where a link leads: an answer made from the text may need to give it.
func writeAddress(s *strings.Builder, address string) {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		s.WriteString(" (" + address + ")")
	}
}

// escapable are the characters that a backslash may precede. Source: CommonMark, Backslash escapes.
const escapable = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// unescape resolves backslash escapes and character references.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(escapable, s[i+1]) >= 0 {
			i++
		}
		out.WriteByte(s[i])
	}
	return html.UnescapeString(out.String())
}

// htmlText is the text of an HTML fragment, without scripts, styles and comments.
func htmlText(fragment string) string {
	var s strings.Builder
	hidden := 0
	tokens := html.NewTokenizer(strings.NewReader(fragment))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(s.String()), " ")
		case html.StartTagToken:
			hidden += hides(tokens)
			s.WriteByte(' ')
		case html.EndTagToken:
			hidden = max(hidden-hides(tokens), 0)
			s.WriteByte(' ')
		case html.TextToken:
			if hidden == 0 {
				s.Write(tokens.Text())
			}
		}
	}
}

// hides is 1 for elements whose text is not for readers.
func hides(tokens *html.Tokenizer) int {
	name, _ := tokens.TagName()
	if string(name) == "script" || string(name) == "style" {
		return 1
	}
	return 0
}
