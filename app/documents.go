package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/ocr/tesseract"
	"parlance.dev/parlance/provider/pdf"
	"parlance.dev/parlance/provider/pdf/poppler"
)

// openWithin is the time for asking the programs for their versions.
const openWithin = 30 * time.Second

// documents finds the programs that read PDF files and pictures. It looks for them when a document
// needs them, and again while one is missing, because an operator may install it while a worker
// runs. See readers for the contracts.
type documents struct {
	config Config
	log    *slog.Logger

	mu  sync.Mutex
	box *sandbox.Sandbox
	pdf *poppler.Reader
	ocr *tesseract.Reader
}

// readers returns readers even if programs are missing: a server accepts files that a worker reads
// later. In a process that is both, missing programs are known and such files are refused.
func (d *documents) readers(ctx context.Context, component string) document.Readers {
	all := document.Readers{PDF: lazyPDF{d}, OCR: lazyOCR{d}}
	if component != "dev" {
		return all
	}
	_ = d.open(ctx) // Work reports what is missing
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pdf == nil {
		all.PDF = nil
	}
	if d.ocr == nil {
		all.OCR = nil
	}
	return all
}

// ErrLanguages says that the data for a configured language is not installed.
var ErrLanguages = errors.New("PARLANCE_OCR_LANGUAGES")

// ErrNoPrograms says that programs cannot be started here, as in an image without a shell.
var ErrNoPrograms = errors.New("no program can be run")

// DocumentReaders describes the programs of this machine for `parlance doctor`.
type DocumentReaders struct {
	// Sandbox and Weakness are descriptions by the sandbox.
	Sandbox, Weakness string
	// Reader is the name of the OCR reader.
	Reader string
	// PDF and OCR are nil, or say why such documents cannot be read. OCR may be ErrLanguages.
	PDF, OCR error
}

// InspectDocuments looks for the programs as a worker does.
func InspectDocuments(ctx context.Context, config Config) (found DocumentReaders, err error) {
	d := &documents{config: config, log: slog.New(slog.DiscardHandler)}
	defer func() { err = errors.Join(err, d.close()) }()
	problem := d.open(ctx)
	if d.box == nil {
		return found, problem
	}
	found.Sandbox, found.Weakness = d.box.Describe(), d.box.Weakness()
	found.PDF = d.box.Has(poppler.Programs()...)
	if d.ocr != nil {
		found.Reader = d.ocr.Name(nil)
		return found, nil
	}
	if found.OCR = d.box.Has("tesseract"); found.OCR == nil {
		found.OCR = problem
		if language, ok := errors.AsType[*ocr.LanguageError](problem); ok {
			found.OCR = fmt.Errorf("%w: %w", ErrLanguages, language)
		}
	}
	return found, nil
}

// open looks for programs that were not found yet. Errors: *ocr.LanguageError, missing
// programs.
func (d *documents) open(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), openWithin) // other callers wait for the result
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.box == nil {
		d.box, err = sandbox.New(ctx, sandbox.Options{Dir: d.config.ScratchDir})
		switch {
		case sandbox.KindOf(err) == sandbox.NotStarted:
			return fmt.Errorf("%w: %w", ErrNoPrograms, err)
		case err != nil:
			return err
		}
		d.log.InfoContext(ctx, "documents are read in a sandbox", telemetry.KeyReason, d.box.Describe())
		if weakness := d.box.Weakness(); weakness != "" {
			d.log.WarnContext(ctx, "the sandbox of documents is weak: install bubblewrap, or run the worker in a container of its own",
				telemetry.KeyReason, "a document that takes over its parser could reach "+weakness)
		}
	}
	if d.pdf == nil {
		if err = d.box.Has(poppler.Programs()...); err == nil {
			d.pdf = poppler.New(poppler.Deps{Sandbox: d.box, Log: d.log})
		}
	}
	if d.ocr == nil {
		var ocrErr error
		d.ocr, ocrErr = tesseract.New(ctx, tesseract.Options{Sandbox: d.box, Languages: d.config.OCRLanguages})
		err = errors.Join(err, ocrErr)
	}
	return err
}

// check is open at the start of a worker. Missing programs are logged; wrong settings are an error.
func (d *documents) check(ctx context.Context) error {
	err := d.open(ctx)
	if language, ok := errors.AsType[*ocr.LanguageError](err); ok {
		return fmt.Errorf("%w: %w", ErrLanguages, language)
	}
	if err != nil {
		d.log.WarnContext(ctx,
			"PDF files or pictures cannot be read on this machine: install poppler-utils, tesseract-ocr and bubblewrap", telemetry.KeyError, err)
	}
	return nil
}

func (d *documents) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.box == nil {
		return nil
	}
	return d.box.Close()
}

// lazyPDF looks for poppler when it is needed.
type lazyPDF struct{ *documents }

// Read implements pdf.Reader.
func (l lazyPDF) Read(ctx context.Context, file io.Reader, options pdf.Options, each func(pdf.Page) error) error {
	reader, err := l.poppler(ctx)
	if err != nil {
		return err
	}
	return reader.Read(ctx, file, options, each)
}

func (d *documents) poppler(ctx context.Context) (*poppler.Reader, error) {
	err := d.open(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.pdf != nil:
		return d.pdf, nil
	case d.box == nil && !errors.Is(err, ErrNoPrograms):
		return nil, err
	}
	return nil, &pdf.Fault{
		Kind: pdf.FaultKind(document.Unsupported), Cause: err,
		Message: "PDF files cannot be read here: the worker has no poppler (package poppler-utils). Reprocess the source when it is installed.",
	}
}

// lazyOCR looks for tesseract when it is needed.
type lazyOCR struct{ *documents }

// Name implements ocr.Reader. It is empty while there is none.
func (l lazyOCR) Name(languages []string) string {
	reader, err := l.tesseract(context.Background())
	if err != nil {
		return ""
	}
	return reader.Name(languages)
}

// Installed implements ocr.Reader.
func (l lazyOCR) Installed(ctx context.Context) ([]string, error) {
	reader, err := l.tesseract(ctx)
	if err != nil {
		return nil, err
	}
	return reader.Installed(ctx)
}

// Read implements ocr.Reader.
func (l lazyOCR) Read(ctx context.Context, picture io.Reader, languages []string) (ocr.Text, error) {
	reader, err := l.tesseract(ctx)
	if err != nil {
		return ocr.Text{}, err
	}
	return reader.Read(ctx, picture, languages)
}

func (d *documents) tesseract(ctx context.Context) (*tesseract.Reader, error) {
	err := d.open(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ocr != nil:
		return d.ocr, nil
	case d.box == nil && !errors.Is(err, ErrNoPrograms):
		return nil, err
	}
	return nil, &ocr.Fault{
		Kind: ocr.Unsupported, Cause: err,
		Message: "Pictures cannot be read here: the worker has no tesseract (package tesseract-ocr) with the configured " +
			"languages. Reprocess the source when it is installed.",
	}
}
