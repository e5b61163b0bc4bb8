package document

import (
	"context"
	"errors"
	"io"

	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/pdf"
)

// parseImage reads a picture, which is a document of one page.
func parseImage(ctx context.Context, r io.Reader, _ string, options Options) (Document, error) {
	text, err := options.Readers.OCR.Read(ctx, r, options.OCRLanguages)
	if err != nil {
		return Document{}, ofPicture(err)
	}
	page := pdf.Page{Number: 1, Of: 1, HeightPoints: float64(text.HeightPixels), WidthPoints: float64(text.WidthPixels)}
	page.Confidence, page.Script = text.Confidence, text.Script
	for _, paragraph := range text.Paragraphs {
		page.Blocks = append(page.Blocks, pdf.Block{Text: paragraph.Text, LinePoints: paragraph.LineHeight})
	}
	doc, err := composePages([]pdf.Page{page}, options.Limits)
	if err != nil {
		return Document{}, err
	}
	if len(doc.Blocks) == 0 {
		return Document{}, &Error{Kind: Empty, Message: "No text was found in the picture."}
	}
	doc.PageCount, doc.RecognizedPages = 1, 1
	var low lowConfidence
	low.add(page)
	if doc.Warnings, err = low.warnings(ctx, options.Readers.OCR); err != nil {
		return Document{}, err
	}
	if options.Pages != nil {
		err = options.Pages(1, 1, 1)
	}
	return doc, err
}

// ofPicture turns the fault of a picture into one of the document.
func ofPicture(err error) error {
	if fault, ok := errors.AsType[*ocr.Fault](err); ok {
		return &Error{Kind: ErrorKind(fault.Kind), Message: fault.Message, err: fault}
	}
	return err
}
