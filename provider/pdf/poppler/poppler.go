package poppler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/pdf"
)

const (
	// file is what the PDF is called in its box.
	file = "in.pdf"
	// maxFileBytes is the largest plan's upload. Source: decisions, Knowledge base.
	maxFileBytes = 1 << 30
	// minTextChars is what a text layer holds at least; a page with less is read from its picture.
	// Source: decisions, Knowledge base.
	minTextChars = 50
)

// Deps of a Reader; Sandbox is required.
type Deps struct {
	Sandbox *sandbox.Sandbox
	// Pictures is how many pages of one file are made into pictures and read at once; 0: as many as
	// there are cores. The OCR reader has its own bound over all files.
	Pictures int
	// FileCPUSeconds is how long the text of a file may take to read, with a tenth of a second a page
	// more; 0: 20. PageCPUSeconds is that of one page alone, also of drawing it; 0: 15.
	FileCPUSeconds, PageCPUSeconds int
	// EndlessPages is how many pages of a file may use up their time without having been drawn; those
	// after them are not drawn any more. 0: 10.
	EndlessPages int
	// Log gets what a program said of a page that was left out; nil discards it.
	Log *slog.Logger
}

// Reader implements pdf.Reader.
type Reader struct {
	deps Deps
}

// New makes a reader. It does not look whether the programs are there.
func New(d Deps) *Reader {
	d.Pictures = cmp.Or(d.Pictures, runtime.GOMAXPROCS(0))
	d.FileCPUSeconds = cmp.Or(d.FileCPUSeconds, 20)
	d.PageCPUSeconds = cmp.Or(d.PageCPUSeconds, 15)
	d.EndlessPages = cmp.Or(d.EndlessPages, 10)
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return &Reader{deps: d}
}

// Programs are what must be installed; Debian has them in the package poppler-utils.
func Programs() []string { return []string{"pdfinfo", "pdftohtml", "pdftoppm"} }

var _ pdf.Reader = (*Reader)(nil)

// Read implements pdf.Reader.
func (r *Reader) Read(ctx context.Context, in io.Reader, o pdf.Options, each func(pdf.Page) error) (err error) {
	box, err := r.deps.Sandbox.Open(ctx)
	if err != nil {
		return fmt.Errorf("read a PDF: %w", err)
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := box.Put(ctx, file, in, maxFileBytes); err != nil {
		if errors.Is(err, sandbox.ErrTooLarge) {
			return &pdf.Fault{Kind: pdf.TooLarge, Message: fmt.Sprintf("The document is larger than %d bytes.", maxFileBytes), Cause: err}
		}
		return fmt.Errorf("read a PDF: %w", err)
	}
	pages, err := countPages(ctx, box)
	if err != nil {
		return err
	}
	if o.MaxPages > 0 && pages > o.MaxPages {
		return &pdf.Fault{
			Kind: pdf.TooManyPages, Message: fmt.Sprintf("The document has %d pages; at most %d can be read. Split it.", pages, o.MaxPages),
		}
	}
	run := &reading{
		box: box, options: o, pages: pages, deps: r.deps,
		ordered: make(chan *pending, pages), pictures: make(chan *pending, pages),
	}
	return run.all(ctx, each)
}

// reading is the work on one file. Text comes from one run of pdftohtml in the order of the pages;
// pages without it wait in line to be read from their picture; each page is handed on when it and
// all before it are there. Both channels have room for every page, so that nobody waits for room:
// the time limits of the programs are theirs alone.
type reading struct {
	box     *sandbox.Box
	options pdf.Options
	pages   int
	deps    Deps
	order   orderer
	// endless counts the pages that were not drawn in their time.
	endless atomic.Int64

	ordered  chan *pending
	pictures chan *pending
}

// pending is a page that is there when done is closed.
type pending struct {
	page pdf.Page
	done chan struct{}
}

func (r *reading) all(ctx context.Context, each func(pdf.Page) error) error {
	group, ctx := errgroup.WithContext(ctx)
	// A panic in a goroutine of ours would end the process, with everybody's work.
	start := func(fn func() error) { group.Go(func() error { return guarded(fn) }) }
	start(func() error {
		defer close(r.ordered)
		defer close(r.pictures)
		if r.options.ForceOCR && r.options.OCR != nil {
			for number := 1; number <= r.pages; number++ {
				r.take(pdf.Page{Number: number, Of: r.pages})
			}
			return nil
		}
		return r.text(ctx)
	})
	for range min(r.deps.Pictures, r.pages) {
		start(func() error {
			for p := range r.pictures {
				if err := r.picture(ctx, &p.page); err != nil {
					return err
				}
				close(p.done)
			}
			return nil
		})
	}
	start(func() error {
		for p := range r.ordered {
			select {
			case <-p.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := each(p.page); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// guarded is fn, whose panic is a fault of the file.
func guarded(fn func() error) (err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = &pdf.Fault{Kind: pdf.Corrupt, Message: "The PDF could not be read.", Cause: fmt.Errorf("panic: %v", crash)}
		}
	}()
	return fn()
}

// take hands a page on: as it is, or to those who read pictures.
func (r *reading) take(page pdf.Page) {
	p := &pending{page: page, done: make(chan struct{})}
	if r.options.OCR == nil || page.Fault != nil || !r.options.ForceOCR && isUsable(page.Blocks) {
		close(p.done)
	} else if known, ok := r.known(page.Number); ok {
		p.page.Recognition, p.page.Recognized, p.page.Known = known, true, true
		close(p.done)
	} else {
		r.pictures <- p
	}
	r.ordered <- p
}

func (r *reading) known(number int) (pdf.Recognition, bool) {
	if r.options.Known == nil {
		return pdf.Recognition{}, false
	}
	return r.options.Known(number)
}
