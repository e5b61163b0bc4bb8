package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Document is the text of a source in reading order.
type Document struct {
	// MediaType is the type it was parsed as, without parameters.
	MediaType string
	// Text is the extracted text: valid UTF-8, lines end in \n, no NUL.
	Text string
	// Blocks are ordered and do not overlap; only white space lies outside all of them.
	Blocks []Block
	// PageCount is 0 where the format has no pages.
	PageCount int
}

// BlockKind says what a block is, which decides where it may be cut.
type BlockKind string

// The kinds of blocks.
const (
	Heading   BlockKind = "heading"
	Paragraph BlockKind = "paragraph"
	List      BlockKind = "list"
	Code      BlockKind = "code"
	Table     BlockKind = "table"
)

// Block is one structural piece of a document.
type Block struct {
	Kind BlockKind
	// HeadingPath are the headings above the block, outermost first; a heading's own path ends with itself.
	HeadingPath []string
	// Text is Document.Text from CharStart to CharEnd. A table has a line a row, a list a line an item.
	Text string
	// CharStart and CharEnd count characters (code points) of Document.Text, end exclusive.
	CharStart, CharEnd int
	// Page is 1-based; 0 where the format has no pages.
	Page int
}

// Limits bounds what a parser takes in. Zero fields take the defaults.
type Limits struct {
	// MaxBytes of the file; default 64 MiB. Uploads are checked against the plan before.
	MaxBytes int64
	// MaxPages of paged formats; default 2,000. Source: decisions, Knowledge base.
	MaxPages int
}

const (
	defaultMaxBytes = 64 << 20
	defaultMaxPages = 2000
)

// ErrorKind is the stable code of a document's fault, shown as error.code of the source.
type ErrorKind string

// The faults of a document.
const (
	Empty         ErrorKind = "empty"
	Corrupt       ErrorKind = "corrupt"
	Binary        ErrorKind = "binary"
	TooLarge      ErrorKind = "too-large"
	TooManyChunks ErrorKind = "too-many-chunks"
	Unsupported   ErrorKind = "unsupported"
)

// Error is a fault of the document itself: trying again cannot help. Message is a sentence for
// the person who uploaded it.
type Error struct {
	Kind    ErrorKind
	Message string

	err error
}

// Error is for logs.
func (e *Error) Error() string {
	if e.err != nil {
		return fmt.Sprintf("document %s: %s: %v", e.Kind, e.Message, e.err)
	}
	return fmt.Sprintf("document %s: %s", e.Kind, e.Message)
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.err }

// errEmpty is shared because every parser can find out last.
func errEmpty() *Error { return &Error{Kind: Empty, Message: "The document holds no text."} }

// Parse reads a whole document of a media type as Resolve gives it; a charset parameter is
// honoured. Errors: *Error for a fault of the document, otherwise the reader's error.
func Parse(mediaType string, r io.Reader, limits Limits) (Document, error) {
	name, charset := splitMediaType(mediaType)
	if limits.MaxBytes <= 0 {
		limits.MaxBytes = defaultMaxBytes
	}
	if limits.MaxPages <= 0 {
		limits.MaxPages = defaultMaxPages
	}
	parse := parserOf(name)
	if parse == nil {
		return Document{}, &Error{Kind: Unsupported, Message: fmt.Sprintf("Files of type %s cannot be read yet.", name)}
	}
	data, err := io.ReadAll(io.LimitReader(r, limits.MaxBytes+1))
	if err != nil {
		return Document{}, fmt.Errorf("reading the document: %w", err)
	}
	if int64(len(data)) > limits.MaxBytes {
		return Document{}, &Error{Kind: TooLarge, Message: fmt.Sprintf("The document is larger than %d bytes.", limits.MaxBytes)}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Document{}, errEmpty()
	}
	doc, err := parse(data, charset, limits)
	if err != nil {
		return Document{}, err
	}
	if len(doc.Blocks) == 0 {
		return Document{}, errEmpty()
	}
	doc.MediaType = name
	return doc, nil
}

// parseFunc turns bytes into a document. charset is the declared one, lower-case, or empty.
type parseFunc func(data []byte, charset string, limits Limits) (Document, error)

// parserOf is the one switch that a new format is added to; nil means not built yet.
func parserOf(mediaType string) parseFunc {
	switch mediaType {
	case TextPlain:
		return parsePlain
	case TextMarkdown:
		return parseMarkdown
	}
	return nil
}

// IsUnsupported reports whether err says that the type has no parser yet.
func IsUnsupported(err error) bool {
	fault, ok := errors.AsType[*Error](err)
	return ok && fault.Kind == Unsupported
}

// builder collects blocks and keeps their offsets.
type builder struct {
	text  strings.Builder
	chars int
	doc   Document
	path  []string
	// levels are the heading levels of path: a document may jump from # to ###.
	levels []int
}

// heading opens a section and adds its heading as a block.
func (b *builder) heading(level int, title string) {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" {
		return
	}
	for len(b.levels) > 0 && b.levels[len(b.levels)-1] >= level {
		b.levels, b.path = b.levels[:len(b.levels)-1], b.path[:len(b.path)-1]
	}
	// A new array: blocks hold the old ones.
	b.path = append(append(make([]string, 0, len(b.path)+1), b.path...), title)
	b.levels = append(b.levels, level)
	b.add(Heading, title)
}

// add appends a block after an empty line; a blank text is no block.
func (b *builder) add(kind BlockKind, text string) {
	text = trimBlankLines(cleanText(text))
	if text == "" {
		return
	}
	if b.chars > 0 {
		b.text.WriteString("\n\n")
		b.chars += 2
	}
	length := utf8.RuneCountInString(text)
	b.text.WriteString(text)
	b.doc.Blocks = append(b.doc.Blocks, Block{
		Kind: kind, HeadingPath: b.path, Text: text, CharStart: b.chars, CharEnd: b.chars + length,
	})
	b.chars += length
}

// document finishes the text.
func (b *builder) document() Document {
	b.doc.Text = b.text.String()
	return b.doc
}

// trimBlankLines drops empty lines around a block and white space after it, but keeps the
// indentation of its first line, which code needs.
func trimBlankLines(s string) string {
	s = strings.TrimRightFunc(s, isSpace)
	start := len(s) - len(strings.TrimLeftFunc(s, isSpace))
	return s[strings.LastIndexByte(s[:start], '\n')+1:]
}
