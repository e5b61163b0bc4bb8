package document

import (
	"context"

	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/pdf"
)

// Options bound and equip a Parse. The zero value reads everything but PDF and pictures.
type Options struct {
	Limits  Limits
	Readers Readers
	// ForceOCR reads each page of a PDF from its picture, also where it has a text layer.
	ForceOCR bool
	// OCRLanguages are those of the text in pictures, the most frequent first; empty: the OCR reader's
	// own. Parse fails as Unsupported when one is not installed, also when nothing needs OCR.
	OCRLanguages []string
	// Pages, when set, is told after each page of a paged document how many are done, how many
	// there are, and how many of those done were read from their picture. It is called from one
	// goroutine and often; its error ends Parse and is returned as it is.
	Pages func(done, total, recognized int) error
	// Store, when set, keeps the pages that were read from their picture, so that a run which
	// follows a broken one need not read them again.
	Store PageStore
}

// Readers are the programs that Parse needs for PDF files and pictures. Without PDF, files of
// that type are Unsupported; without OCR pictures are, and pages of a PDF that are only a picture
// stay without text.
type Readers struct {
	PDF pdf.Reader
	OCR ocr.Reader
}

// PageStore keeps the text of pages of one file. reader is the name of the OCR reader with its
// languages: what was kept under another name is not to be loaded. Both are called from one
// goroutine; an error of either ends Parse and is returned as it is.
type PageStore interface {
	// Load gives what was kept, in any order; it is called at most once, before the first Save.
	Load(ctx context.Context, reader string) ([]StoredPage, error)
	// Save keeps a page that was not there before, soon after it was read.
	Save(ctx context.Context, reader string, page StoredPage) error
}

// StoredPage is a page as a PageStore keeps it.
type StoredPage struct {
	// Number counts from 1.
	Number int
	// Content is for Parse alone: valid UTF-8 without NUL, of a few kilobytes.
	Content string
}

// Readable reports whether Parse reads a media type, as Resolve gives it, with these readers.
func Readable(mediaType string, readers Readers) bool {
	name, _ := splitMediaType(mediaType)
	return parserOf(name, readers) != nil
}
