package modeltext

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
	el "golang.org/x/net/html/atom"
)

// blocks are elements that begin and end a line.
var blocks = map[el.Atom]bool{
	el.Address: true, el.Article: true, el.Aside: true, el.Blockquote: true, el.Body: true, el.Br: true, el.Dd: true, el.Details: true,
	el.Div: true, el.Dl: true, el.Dt: true, el.Fieldset: true, el.Figcaption: true, el.Figure: true, el.Footer: true, el.Form: true,
	el.H1: true, el.H2: true, el.H3: true, el.H4: true, el.H5: true, el.H6: true, el.Head: true, el.Header: true, el.Hr: true, el.Li: true,
	el.Main: true, el.Nav: true, el.Ol: true, el.Option: true, el.P: true, el.Pre: true, el.Section: true, el.Summary: true,
	el.Table: true, el.Tbody: true, el.Thead: true, el.Title: true, el.Tr: true, el.Ul: true,
}

// htmlText returns the visible text of a page, one line per block, without scripts, styles,
// comments and tags. The cells of a row are separated by a bar. It reads tokens and builds no tree,
// so deep nesting costs nothing.
func htmlText(page string) string {
	tokens := html.NewTokenizer(strings.NewReader(page))
	var out lines
	var skipped *hiddenElement
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return out.text()
		}
		token := tokens.Token()
		if skipped != nil {
			goesOn, ended := skipped.skip(kind, token.DataAtom)
			if goesOn {
				continue
			}
			if skipped = nil; ended {
				continue
			}
		}
		switch kind {
		case html.TextToken:
			out.write(token.Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			if !isHidden(token) {
				out.begin(token)
			} else if !empty[token.DataAtom] && (kind == html.StartTagToken || !unseen[token.DataAtom]) {
				skipped = &hiddenElement{tag: token.DataAtom, depth: 1}
			}
		case html.EndTagToken:
			if token.DataAtom == el.Pre {
				out.pre = false
			}
			if blocks[token.DataAtom] {
				out.end()
			}
		}
	}
}

// lines collects text. It makes white space one space and leaves out empty lines.
type lines struct {
	done strings.Builder
	line strings.Builder
	// space says that the next word needs a space before it.
	space bool
	// cell says that the line has a table cell already.
	cell bool
	// pre keeps line breaks.
	pre bool
}

func (l *lines) begin(token html.Token) {
	switch {
	case token.DataAtom == el.Td || token.DataAtom == el.Th:
		if l.cell {
			l.line.WriteString(" |")
			l.space = true
		}
		l.cell = true
		return
	case token.DataAtom == el.Img:
		for _, attribute := range token.Attr {
			if attribute.Key == "alt" {
				l.write(attribute.Val)
			}
		}
		return
	case blocks[token.DataAtom]:
		l.end()
	}
	switch token.DataAtom {
	case el.Li:
		l.line.WriteString("-")
		l.space = true
	case el.Pre:
		l.pre = true
	}
}

func (l *lines) write(text string) {
	if l.pre {
		for i, line := range strings.Split(text, "\n") {
			if i > 0 {
				l.end()
			}
			l.line.WriteString(line)
		}
		return
	}
	for _, r := range text {
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '\u00a0':
			l.space = true
		case r == '\u00ad' || r == '\u200b': // possible line breaks inside a word
		default:
			if l.space && l.line.Len() > 0 {
				l.line.WriteByte(' ')
			}
			l.space = false
			l.line.WriteRune(r)
		}
	}
}

// end ends the line.
func (l *lines) end() {
	line := strings.TrimRight(l.line.String(), " \t\r")
	l.line.Reset()
	l.space, l.cell = false, false
	if line == "" || line == "-" {
		return
	}
	if l.done.Len() > 0 {
		l.done.WriteByte('\n')
	}
	l.done.WriteString(line)
}

func (l *lines) text() string {
	l.end()
	return l.done.String()
}

// xmlText returns an XML document without declarations, comments, namespace declarations and the
// white space between elements. Text that is not XML is returned unchanged. Of a document that was
// cut it returns the elements that are there.
func xmlText(document string, cut bool) string {
	decoder := xml.NewDecoder(strings.NewReader(document))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // already UTF-8
	var out strings.Builder
	var open string // a start tag without its closing bracket
	for {
		token, err := decoder.RawToken()
		if err != nil {
			out.WriteString(closing(open, ">"))
			if !errors.Is(err, io.EOF) && !cut || out.Len() == 0 {
				return document
			}
			return out.String()
		}
		switch token := token.(type) {
		case xml.StartElement:
			out.WriteString(closing(open, ">"))
			open = startTag(token)
			out.WriteString(open)
		case xml.EndElement:
			if open != "" {
				out.WriteString("/>")
			} else {
				out.WriteString("</" + fullName(token.Name) + ">")
			}
			open = ""
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				out.WriteString(closing(open, ">"))
				open = ""
				escapeXML(&out, text)
			}
		}
	}
}

// closing returns end when a start tag is open.
func closing(open, end string) string {
	if open == "" {
		return ""
	}
	return end
}

func startTag(element xml.StartElement) string {
	var out strings.Builder
	out.WriteString("<" + fullName(element.Name))
	for _, attribute := range element.Attr {
		if attribute.Name.Space == "xmlns" || attribute.Name.Space == "" && attribute.Name.Local == "xmlns" {
			continue
		}
		out.WriteString(" " + fullName(attribute.Name) + `="`)
		escapeXML(&out, attribute.Value)
		out.WriteByte('"')
	}
	return out.String()
}

func fullName(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escapeXML(out *strings.Builder, text string) {
	_, _ = xmlEscapes.WriteString(out, text) // a strings.Builder returns no error
}
