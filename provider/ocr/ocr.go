package ocr

import (
	"context"
	"fmt"
	"io"
)

// Reader reads pictures. It is safe for concurrent use. The caller bounds how many pictures are
// read at once.
type Reader interface {
	// Name is the program, its version and the languages, as "tesseract 5.3.0 eng+deu"; no languages:
	// its own. What was read under another name may read otherwise now.
	Name(languages []string) string
	// Installed are the languages that it can read now. Errors: *Fault, ctx's, and ours.
	Installed(ctx context.Context) ([]string, error)
	// Read gives the text of one picture in some languages, the most frequent first; none: its own.
	// Errors: *Fault (Unsupported, caused by *LanguageError, for a language that is not installed),
	// ctx's, and ours (to be tried again).
	Read(ctx context.Context, picture io.Reader, languages []string) (Text, error)
}

// LowConfidence is the least confidence of a text that can be relied on. The figures that it was
// chosen by are in docs/decisions/0047-ocr-confidence.md.
const LowConfidence = 65

// Text is what stands in a picture.
type Text struct {
	// Paragraphs in reading order; none when the picture holds no text.
	Paragraphs []Paragraph
	// WidthPixels and HeightPixels of the picture.
	WidthPixels, HeightPixels int
	// Confidence is how sure the reader is of the words, 0 to 100: their mean, weighted by
	// characters. 0 when there are none.
	Confidence float64
	// Script is what the letters look like, such as Cyrillic, when the confidence is low and that can
	// be told; empty otherwise.
	Script string
}

// Paragraph is a run of lines that belong together.
type Paragraph struct {
	// Text has the lines as they stand in the picture, each but the last ending in \n; words that
	// are broken at the end of a line are still broken.
	Text string
	// LineHeight is the usual height of its lines in pixels, by which headings stand out; 0: unknown.
	LineHeight float64
}

// FaultKind says what is wrong with a picture.
type FaultKind string

// The faults of a picture.
const (
	// Corrupt pictures cannot be decoded, or are not what their first bytes say.
	Corrupt FaultKind = "corrupt"
	// TooLarge is about pixels and bytes.
	TooLarge FaultKind = "too-large"
	// TooComplex needed more memory or computing than a picture gets.
	TooComplex FaultKind = "too-complex"
	// Timeout is a picture that took too long.
	Timeout FaultKind = "timeout"
	// Unsupported pictures meet no reader: the program is not installed.
	Unsupported FaultKind = "unsupported"
)

// Fault is about the picture itself: trying again cannot help.
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
		return fmt.Sprintf("picture %s: %s: %v", f.Kind, f.Message, f.Cause)
	}
	return fmt.Sprintf("picture %s: %s", f.Kind, f.Message)
}

// Unwrap returns the cause, if any.
func (f *Fault) Unwrap() error { return f.Cause }
