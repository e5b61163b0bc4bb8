package document

import (
	"strings"
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
	rendered, err := renderMarkdown([]byte(text))
	if err != nil {
		return Document{}, errCorrupt(err, "The Markdown could not be read.")
	}
	b := builder{limit: limits.MaxTextBytes}
	if page := pageOf(rendered); page.root != nil {
		page.walk(&b, asMarkdown)
	} else {
		b.flatHTML(rendered)
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

// writeAddress keeps where a link leads: an answer made from the text may need to give it.
func writeAddress(s *strings.Builder, address string) {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		s.WriteString(" (" + address + ")")
	}
}
