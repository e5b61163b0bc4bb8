package poppler

import (
	"context"
	"errors"
	"strconv"
	"time"
	"unicode"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/pdf"
)

const (
	// maxRestarts is how many pages of a file may end the program; then the file is given up.
	maxRestarts = 5
	// maxSearched is how many pages are read one by one to find the one that ended the program:
	// what it had in its buffer went with it.
	maxSearched = 50
	// maxTextOutput is what pdftohtml may write; 2,000 full pages are 15 MB, of a newspaper 120 MB.
	maxTextOutput = 256 << 20
	// wallPerCPU is how much longer a program may take than it may compute: others compute too.
	wallPerCPU = 20
)

// text takes the text layers of all pages, those aside that cannot be read.
// Errors: *pdf.Fault, ours.
func (r *reading) text(ctx context.Context) error {
	next := 1
	for range maxRestarts {
		first := next
		err := r.span(ctx, &next, r.pages, r.deps.FileCPUSeconds+r.pages/10)
		if err == nil {
			return nil
		}
		fault, ok := errors.AsType[*pdf.Fault](err)
		if !ok {
			return err
		}
		if first == r.pages && next == first { // it was that page, alone
			r.leaveOut(ctx, next, fault)
			return nil
		}
		if next, err = r.search(ctx, next, fault); err != nil {
			return err
		}
		if next > r.pages {
			return nil
		}
	}
	return &pdf.Fault{Kind: pdf.Corrupt, Message: "The PDF is damaged: many of its pages cannot be read."}
}

// search reads pages one by one up to the one that cannot be read, and gives the number after it.
func (r *reading) search(ctx context.Context, next int, fault *pdf.Fault) (int, error) {
	for range maxSearched {
		if next > r.pages {
			return next, nil
		}
		number := next
		err := r.span(ctx, &next, number, r.deps.PageCPUSeconds)
		if err == nil {
			continue
		}
		broken, ok := errors.AsType[*pdf.Fault](err)
		if !ok {
			return next, err
		}
		if next == number {
			r.leaveOut(ctx, number, broken)
		}
		return number + 1, nil
	}
	return next, fault
}

// span takes the pages from *next to last, and moves *next behind each that came.
func (r *reading) span(ctx context.Context, next *int, last, cpuSeconds int) error {
	pages := &sheets{first: *next, last: last, each: func(page sheet) error {
		r.skip(next, page.number)
		if page.overfull {
			r.take(pdf.Page{Number: page.number, Of: r.pages, Fault: &pdf.Fault{Kind: pdf.TooComplex, Message: "it holds too many pieces of text."}})
		} else {
			r.take(pdf.Page{
				Number: page.number, Of: r.pages, WidthPoints: page.width, HeightPoints: page.height,
				Recognition: pdf.Recognition{Blocks: r.order.blocksOf(page)},
			})
		}
		*next = page.number + 1
		return ctx.Err()
	}}
	takes := writerFunc(func(p []byte) (n int, err error) {
		err = guarded(func() error { n, err = pages.Write(p); return err })
		return n, err
	})
	err := r.box.Run(ctx, sandbox.Command{
		Program: "pdftohtml",
		Args: []string{
			"-xml", "-stdout", "-i", "-hidden", "-nodrm", "-enc", "UTF-8",
			"-f", strconv.Itoa(*next), "-l", strconv.Itoa(last), file,
		},
		Stdout: takes, CPUSeconds: cpuSeconds, WallTime: time.Duration(cpuSeconds) * wallPerCPU * time.Second, OutputBytes: maxTextOutput,
	})
	if err != nil {
		return faultOf(err)
	}
	r.skip(next, last+1)
	*next = last + 1
	return nil
}

// writerFunc is a function as io.Writer.
type writerFunc func(p []byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// skip takes pages that the program did not give although it came past them: they may still have a
// picture.
func (r *reading) skip(next *int, to int) {
	for ; *next < to; *next++ {
		page := pdf.Page{Number: *next, Of: r.pages}
		if r.options.OCR == nil {
			page.Fault = &pdf.Fault{Kind: pdf.Corrupt, Message: "it is damaged."}
		}
		r.take(page)
	}
}

// leaveOut takes a page that cannot be read.
func (r *reading) leaveOut(ctx context.Context, number int, fault *pdf.Fault) {
	r.deps.Log.InfoContext(ctx, "page of a PDF left out", "page", number, "error", fault)
	message := "it is damaged."
	switch fault.Kind {
	case pdf.TooComplex:
		message = "it is too complex."
	case pdf.Timeout:
		message = "it took too long."
	case pdf.Corrupt, pdf.Encrypted, pdf.Empty, pdf.TooLarge, pdf.TooManyPages:
	}
	r.take(pdf.Page{Number: number, Of: r.pages, Fault: &pdf.Fault{Kind: fault.Kind, Message: message, Cause: fault}})
}

// isUsable says whether a text layer says what its page does: it has enough letters, and most are
// letters that somebody could read.
func isUsable(blocks []pdf.Block) bool {
	chars, broken := readability(blocks)
	return chars >= minTextChars && !isBroken(chars, broken)
}

func isBroken(chars, broken int) bool { return broken*4 > chars }

// readability counts what is not blank, and what of it nobody could read.
func readability(blocks []pdf.Block) (chars, broken int) {
	for _, b := range blocks {
		for _, c := range b.Text {
			switch {
			case isBlank(c):
			case c == unicode.ReplacementChar, unicode.Is(unicode.Co, c):
				broken++
				chars++
			default:
				chars++
			}
		}
	}
	return chars, broken
}

func charsOf(blocks []pdf.Block) int {
	chars, _ := readability(blocks)
	return chars
}
