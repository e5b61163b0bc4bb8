package document

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
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
	// RecognizedPages is how many of them were read from their picture.
	RecognizedPages int
	// Warnings are sentences about what could not be read, while the rest could; at most a few.
	Warnings []string
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
	// HeadingPath are the headings above the block, outermost first; a heading's own path ends with
	// itself.
	HeadingPath []string
	// Text is Document.Text from CharStart to CharEnd. A table has a line a row, a list a line an
	// item.
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
	// MaxArchiveBytes of a DOCX or EPUB, most of which may be pictures that are never read;
	// default 1 GiB.
	MaxArchiveBytes int64
	// MaxUnpackedBytes is what may be unpacked from a DOCX or EPUB in all, counted while it is
	// read; default 256 MiB.
	MaxUnpackedBytes int64
	// MaxTextBytes of the extracted text; default 64 MiB, far above what MaxChunks lets through.
	MaxTextBytes int
	// MaxPages of paged formats; default 2,000. Source: decisions, Knowledge base.
	MaxPages int
}

func (l Limits) normal() Limits {
	return Limits{
		MaxBytes: cmp.Or(l.MaxBytes, 64<<20), MaxArchiveBytes: cmp.Or(l.MaxArchiveBytes, 1<<30),
		MaxUnpackedBytes: cmp.Or(l.MaxUnpackedBytes, 256<<20), MaxTextBytes: cmp.Or(l.MaxTextBytes, 64<<20),
		MaxPages: cmp.Or(l.MaxPages, 2000),
	}
}

// ErrorKind is the stable code of a document's fault, shown as error.code of the source.
type ErrorKind string

// The faults of a document.
const (
	// Empty documents hold no text for a reader.
	Empty ErrorKind = "empty"
	// Corrupt documents break the rules of their format: cut off, damaged, never of that format.
	Corrupt ErrorKind = "corrupt"
	// Binary is what is called a text and is none.
	Binary ErrorKind = "binary"
	// Encrypted documents need a password, or carry DRM.
	Encrypted ErrorKind = "encrypted"
	// WrongType is a sound document of another type than its name says: an old .doc called .docx.
	WrongType ErrorKind = "wrong-type"
	// TooLarge is about the bytes of the file, what they unpack to, or the text in them.
	TooLarge ErrorKind = "too-large"
	// TooComplex is about nesting, the number of parts, and sizes that only attacks have.
	TooComplex ErrorKind = "too-complex"
	// TooManyPages is about Limits.MaxPages.
	TooManyPages ErrorKind = "too-many-pages"
	// Timeout is a document that took longer to read than any for people does.
	Timeout ErrorKind = "timeout"
	// TooManyChunks is said by package chunking.
	TooManyChunks ErrorKind = "too-many-chunks"
	// Unsupported types have no parser, or their reader is not installed.
	Unsupported ErrorKind = "unsupported"
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

func errCorrupt(cause error, format string, args ...any) *Error {
	return &Error{Kind: Corrupt, Message: fmt.Sprintf(format, args...), err: cause}
}

func errTooLarge(limit int64) *Error {
	return &Error{Kind: TooLarge, Message: fmt.Sprintf("The document is larger than %d bytes.", limit)}
}

// Parse reads a whole document of a media type as Resolve gives it; a charset parameter is
// honoured. A parser that panics on a document fails that document only.
// Errors: *Error for a fault of the document, otherwise r's, those of options, and ctx's.
func Parse(ctx context.Context, mediaType string, r io.Reader, options Options) (doc Document, err error) {
	name, charset := splitMediaType(mediaType)
	parse := parserOf(name, options.Readers)
	if parse == nil {
		return Document{}, &Error{Kind: Unsupported, Message: fmt.Sprintf("Files of type %s cannot be read yet.", name)}
	}
	defer func() {
		if crash := recover(); crash != nil {
			doc, err = Document{}, errCorrupt(fmt.Errorf("panic: %v", crash), "The document could not be read.")
		}
	}()
	options.Limits = options.Limits.normal()
	doc, err = parse(ctx, r, charset, options)
	if err != nil {
		return Document{}, err
	}
	if len(doc.Blocks) == 0 {
		return Document{}, errEmpty()
	}
	doc.MediaType = name
	return doc, nil
}

// parseFunc reads a document. charset is the declared one, lower-case, or empty.
type parseFunc func(ctx context.Context, r io.Reader, charset string, options Options) (Document, error)

// parserOf is the one switch that a new format is added to; nil means that it cannot be read.
func parserOf(mediaType string, readers Readers) parseFunc {
	switch mediaType {
	case TextPlain:
		return inMemory(parsePlain)
	case TextMarkdown:
		return inMemory(parseMarkdown)
	case TextHTML:
		return inMemory(parseHTML)
	case ApplicationJSON:
		return inMemory(parseJSON)
	case ApplicationDOCX:
		return inArchive(parseDOCX)
	case ApplicationEPUB:
		return inArchive(parseEPUB)
	case ApplicationPDF:
		if readers.PDF != nil {
			return parsePDF
		}
	case ImagePNG, ImageJPEG, ImageWEBP:
		if readers.OCR != nil {
			return parseImage
		}
	}
	return nil
}

// inMemory gives a parser the whole file. Errors: *Error TooLarge, Empty.
func inMemory(parse func(data []byte, charset string, limits Limits) (Document, error)) parseFunc {
	return func(_ context.Context, r io.Reader, charset string, options Options) (Document, error) {
		limits := options.Limits
		data, err := io.ReadAll(io.LimitReader(r, limits.MaxBytes+1))
		if err != nil {
			return Document{}, fmt.Errorf("reading the document: %w", err)
		}
		if int64(len(data)) > limits.MaxBytes {
			return Document{}, errTooLarge(limits.MaxBytes)
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return Document{}, errEmpty()
		}
		return parse(data, charset, limits)
	}
}
