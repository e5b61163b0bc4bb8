package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/pdf"
)

// maxWarnings bounds Document.Warnings.
const maxWarnings = 10

// parsePDF reads the pages in order and keeps those that were read from their picture.
func parsePDF(ctx context.Context, r io.Reader, _ string, options Options) (Document, error) {
	run := pdfRun{options: options}
	if err := checkLanguages(ctx, options); err != nil {
		return Document{}, err
	}
	if err := run.load(ctx); err != nil {
		return Document{}, err
	}
	err := options.Readers.PDF.Read(ctx, r, pdf.Options{
		MaxPages: options.Limits.MaxPages, ForceOCR: options.ForceOCR, OCR: options.Readers.OCR,
		OCRLanguages: options.OCRLanguages, Known: run.known,
	}, func(page pdf.Page) error { return run.page(ctx, page) })
	if fault, ok := errors.AsType[*pdf.Fault](err); ok {
		return Document{}, &Error{Kind: ErrorKind(fault.Kind), Message: fault.Message, err: fault}
	}
	if err != nil {
		return Document{}, err
	}
	return run.document(ctx)
}

// pdfRun collects what a reader gives.
type pdfRun struct {
	options    Options
	stored     map[int]StoredPage
	pages      []pdf.Page
	bytes      int
	recognized int
	faults     []*pdf.Fault
	warnings   []string
	low        lowConfidence
}

// checkLanguages makes sure that the languages that are asked for can be read, before any page is.
func checkLanguages(ctx context.Context, options Options) error {
	if options.Readers.OCR == nil || len(options.OCRLanguages) == 0 {
		return nil
	}
	installed, err := options.Readers.OCR.Installed(ctx)
	if err != nil {
		return ofPicture(err)
	}
	if missing, ok := errors.AsType[*ocr.LanguageError](ocr.CheckInstalled(options.OCRLanguages, installed)); ok {
		return ofPicture(missing.Fault())
	}
	return nil
}

// reader names the OCR reader with its languages.
func (p *pdfRun) reader() string { return p.options.Readers.OCR.Name(p.options.OCRLanguages) }

func (p *pdfRun) load(ctx context.Context) error {
	if p.options.Store == nil || p.options.Readers.OCR == nil {
		return nil
	}
	pages, err := p.options.Store.Load(ctx, p.reader())
	if err != nil {
		return err
	}
	p.stored = make(map[int]StoredPage, len(pages))
	for _, page := range pages {
		p.stored[page.Number] = page
	}
	return nil
}

// known gives a page that an earlier run read. What cannot be decoded is read again.
func (p *pdfRun) known(number int) (known pdf.Recognition, ok bool) {
	page, ok := p.stored[number]
	if !ok {
		return known, false
	}
	err := json.Unmarshal([]byte(page.Content), &known)
	return known, err == nil
}

// page takes a page in, keeps it if its picture was read, and tells how far the run is.
func (p *pdfRun) page(ctx context.Context, page pdf.Page) error {
	for i := range page.Blocks {
		page.Blocks[i].Text = withoutLeaders(cleanText(strings.ToValidUTF8(page.Blocks[i].Text, "")))
		p.bytes += len(page.Blocks[i].Text)
	}
	if p.bytes > p.options.Limits.MaxTextBytes {
		return &Error{Kind: TooLarge, Message: "The document holds more text than can be taken in."}
	}
	if page.Fault != nil {
		p.faults = append(p.faults, page.Fault)
		if len(p.faults) <= maxWarnings {
			p.warnings = append(p.warnings, fmt.Sprintf("Page %d could not be read: %s", page.Number, page.Fault.Message))
		}
	}
	p.pages = append(p.pages, page)
	if page.Recognized {
		p.recognized++
		p.low.add(page)
		if err := p.save(ctx, page); err != nil {
			return err
		}
	}
	if p.options.Pages == nil {
		return nil
	}
	return p.options.Pages(len(p.pages), page.Of, p.recognized)
}

func (p *pdfRun) save(ctx context.Context, page pdf.Page) error {
	if isNew := !page.Known && page.Fault == nil; !isNew || p.options.Store == nil {
		return nil
	}
	content, err := json.Marshal(page.Recognition)
	if err != nil {
		return fmt.Errorf("encoding a page: %w", err)
	}
	return p.options.Store.Save(ctx, p.reader(), StoredPage{Number: page.Number, Content: string(content)})
}

// document finishes a run whose pages have all come. Errors: *Error Corrupt, Empty, TooLarge.
func (p *pdfRun) document(ctx context.Context) (Document, error) {
	if len(p.faults) > 0 && len(p.faults) == len(p.pages) {
		fault := p.faults[0]
		return Document{}, &Error{Kind: ErrorKind(fault.Kind), Message: "No page of the document could be read: " +
			fault.Message, err: fault}
	}
	doc, err := composePages(p.pages, p.options.Limits)
	if err != nil {
		return Document{}, err
	}
	doc.PageCount, doc.RecognizedPages, doc.Warnings = len(p.pages), p.recognized, p.warnings
	if more := len(p.faults) - maxWarnings; more > 0 {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("%d more pages could not be read.", more))
	}
	low, err := p.low.warnings(ctx, p.options.Readers.OCR)
	doc.Warnings = append(doc.Warnings, low...)
	return doc, err
}
