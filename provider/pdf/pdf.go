package pdf

import (
	"context"
	"fmt"
	"io"

	"parlance.dev/parlance/provider/ocr"
)

// Reader reads PDF files. It is safe for concurrent use.
type Reader interface {
	// Read calls each with every page in order, from one goroutine, while the rest is still being
	// read; each's error ends it and is returned as it is.
	// Errors: *Fault, each's, ctx's, and ours (to be tried again).
	Read(ctx context.Context, file io.Reader, options Options, each func(Page) error) error
}

// Options of one reading.
type Options struct {
	// MaxPages is the most a file may have; more is the fault TooManyPages, found before any page
	// is read. 0: no limit.
	MaxPages int
	// ForceOCR reads every page from its picture.
	ForceOCR bool
	// OCR reads pages without a usable text layer; nil leaves them as they are.
	OCR ocr.Reader
	// OCRLanguages are those of the pictures; empty: the OCR reader's own.
	OCRLanguages []string
	// Known, when set, gives what was read from a page's picture before. It is called from one
	// goroutine.
	Known func(number int) (Recognition, bool)
}

// Page is what stands on a page.
type Page struct {
	// Number counts from 1; Of is how many pages the file has.
	Number, Of int
	// WidthPoints and HeightPoints; 0 where the blocks have no places.
	WidthPoints, HeightPoints float64
	Recognition
	// Recognized says that the blocks come from the page's picture, and Known that they were there
	// before.
	Recognized, Known bool
	// Fault is why the page could not be read, while others could; nil otherwise.
	Fault *Fault
}

// Recognition is the text of a page and, when it comes from the page's picture, how sure that is.
type Recognition struct {
	// Blocks in reading order.
	Blocks []Block `json:"blocks"`
	// Confidence and Script are those of the picture's ocr.Text; 100 when the text layer says as
	// much.
	Confidence float64 `json:"confidence"`
	Script     string  `json:"script,omitempty"`
}

// Block is a run of lines that lie together.
type Block struct {
	// Text has the lines as they stand on the page, each but the last ending in \n.
	Text string `json:"text"`
	// LinePoints is the size of its letters, by which headings stand out; 0: unknown. That of a
	// recognized page compares only with that of others.
	LinePoints float64 `json:"line,omitempty"`
	Bold       bool    `json:"bold,omitempty"`
	// Table says that a line is a row, its cells separated by a tab; each row has as many.
	Table bool `json:"table,omitempty"`
	// TopPoints and BottomPoints are measured from the upper edge of the page; both 0: unknown.
	TopPoints    float64 `json:"top,omitempty"`
	BottomPoints float64 `json:"bottom,omitempty"`
}

// FaultKind says what is wrong with a file.
type FaultKind string

// The faults of a file.
const (
	// Encrypted files need a password to be opened.
	Encrypted FaultKind = "encrypted"
	// Corrupt files cannot be opened, or none of their pages can.
	Corrupt FaultKind = "corrupt"
	// Empty files have no page.
	Empty FaultKind = "empty"
	// TooLarge is about bytes.
	TooLarge FaultKind = "too-large"
	// TooManyPages is about Options.MaxPages.
	TooManyPages FaultKind = "too-many-pages"
	// TooComplex needed more memory or computing than a file gets.
	TooComplex FaultKind = "too-complex"
	// Timeout is a file that took too long.
	Timeout FaultKind = "timeout"
)

// Fault is about the file itself: trying again cannot help.
type Fault struct {
	Kind FaultKind
	// Message is a sentence for the person who uploaded it.
	Message string
	// Cause is for logs; may be nil.
	Cause error
}

// Error is for logs.
func (f *Fault) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("pdf %s: %s: %v", f.Kind, f.Message, f.Cause)
	}
	return fmt.Sprintf("pdf %s: %s", f.Kind, f.Message)
}

// Unwrap returns the cause, if any.
func (f *Fault) Unwrap() error { return f.Cause }
