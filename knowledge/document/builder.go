package document

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxPathChars bounds a heading within paths, which every block below it and every chunk carry.
const maxPathChars = 200

// maxPathHeadings is how many headings a path has at most; no format for people has more than nine
// levels, but JSON may.
const maxPathHeadings = 12

// builder collects blocks and keeps their offsets.
type builder struct {
	text  strings.Builder
	chars int
	doc   Document
	path  []string
	// levels are the heading levels of path: a document may jump from # to ###.
	levels []int
	// limit is Limits.MaxTextBytes; zero means that the format cannot make more text than it has
	// bytes.
	limit int
	full  bool
	// page is the one that blocks are on; 0 where the format has none.
	page int
}

// heading opens a section and adds its heading as a block.
func (b *builder) heading(level int, title string) {
	title = squeezed(title)
	if title == "" {
		return
	}
	b.leave(level)
	if len(b.path) < maxPathHeadings {
		// A new array: blocks hold the old ones.
		b.path = append(slices.Clone(b.path), shortened(title, maxPathChars))
		b.levels = append(b.levels, level)
	}
	b.add(Heading, title)
}

// leave closes the sections of a level and below: what follows stands under those above it.
func (b *builder) leave(level int) {
	for len(b.levels) > 0 && b.levels[len(b.levels)-1] >= level {
		b.levels, b.path = b.levels[:len(b.levels)-1], b.path[:len(b.path)-1]
	}
}

// add appends a block after an empty line; a blank text is no block.
func (b *builder) add(kind BlockKind, text string) {
	text = TrimBlankLines(cleanText(text))
	if text == "" || b.full {
		return
	}
	if b.limit > 0 && b.text.Len()+len(text) > b.limit {
		b.full = true
		return
	}
	if b.chars > 0 {
		b.text.WriteString("\n\n")
		b.chars += 2
	}
	length := utf8.RuneCountInString(text)
	b.text.WriteString(text)
	b.doc.Blocks = append(b.doc.Blocks, Block{
		Kind: kind, HeadingPath: b.path, Text: text, CharStart: b.chars, CharEnd: b.chars + length, Page: b.page,
	})
	b.chars += length
}

// finish is document for formats whose text may be larger than their bytes. Errors: *Error
// TooLarge.
func (b *builder) finish() (Document, error) {
	if b.full {
		return Document{}, &Error{Kind: TooLarge, Message: "The document holds more text than can be taken in."}
	}
	return b.document(), nil
}

// document finishes the text.
func (b *builder) document() Document {
	b.doc.Text = b.text.String()
	return b.doc
}

// TrimBlankLines drops empty lines around a block and white space after it, but keeps the
// indentation of its first line, which code needs.
func TrimBlankLines(s string) string {
	s = strings.TrimRightFunc(s, IsSpace)
	start := len(s) - len(strings.TrimLeftFunc(s, IsSpace))
	return s[strings.LastIndexByte(s[:start], '\n')+1:]
}

// shortened cuts a text to a number of characters, with an ellipsis.
func shortened(s string, chars int) string {
	count := 0
	for i := range s {
		if count++; count > chars {
			return strings.TrimRightFunc(s[:i], IsSpace) + "…"
		}
	}
	return s
}

// squeezed is a text on one line: runs of white space become one space.
func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// withoutSoftHyphens drops what only says where a word may be broken; a search would not find
// the word.
func withoutSoftHyphens(s string) string { return strings.ReplaceAll(s, "\u00AD", "") }
