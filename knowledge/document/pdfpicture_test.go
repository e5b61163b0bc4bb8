package document_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/test/pdfmake"
)

// scriptedOCR says of the n-th picture that it is the n-th, and counts what it is asked.
type scriptedOCR struct {
	name  string
	mu    sync.Mutex
	calls int
	fail  func(call int) error
	// says is what each picture says, when set.
	says string
	// confidence of each picture, by its number; 0 and none: 90.
	confidence map[int]float64
	// scripts are those of the pictures, if set; languages those of the last one.
	scripts, languages []string
}

func (s *scriptedOCR) Name(languages []string) string {
	return strings.Join(append([]string{s.name}, languages...), " ")
}

func (*scriptedOCR) Installed(context.Context) ([]string, error) {
	return []string{"deu", "eng", "osd"}, nil
}

func (s *scriptedOCR) Read(_ context.Context, image io.Reader, languages []string) (ocr.Text, error) {
	data, err := io.ReadAll(image)
	if err != nil || !bytes.HasPrefix(data, []byte("\x89PNG\r\n")) {
		return ocr.Text{}, fmt.Errorf("no PNG: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.languages = languages
	if s.fail != nil {
		if err := s.fail(s.calls); err != nil {
			return ocr.Text{}, err
		}
	}
	if s.says != "" {
		return ocr.Text{Confidence: 90, Paragraphs: []ocr.Paragraph{{Text: s.says, LineHeight: 30}}}, nil
	}
	confidence := s.confidence[s.calls]
	if confidence == 0 {
		confidence = 90
	}
	script := ""
	if s.calls <= len(s.scripts) {
		script = s.scripts[s.calls-1]
	}
	return ocr.Text{WidthPixels: 1556, HeightPixels: 2200, Confidence: confidence, Script: script, Paragraphs: []ocr.Paragraph{
		{Text: fmt.Sprintf("Picture %d", s.calls), LineHeight: 60},
		{Text: "says what it shows in a line that is bro-\nken and goes on.", LineHeight: 30},
	}}, nil
}

// memoryStore keeps pages by the reader's name.
type memoryStore struct {
	pages map[string][]document.StoredPage
	err   error
}

func (m *memoryStore) Load(_ context.Context, reader string) ([]document.StoredPage, error) {
	return m.pages[reader], nil
}

func (m *memoryStore) Save(_ context.Context, reader string, page document.StoredPage) error {
	if m.pages == nil {
		m.pages = map[string][]document.StoredPage{}
	}
	m.pages[reader] = append(m.pages[reader], page)
	return m.err
}

// mixed has text on the first and third page, nothing on the fourth, a picture on the others.
func mixed() []byte {
	f := pdfmake.New()
	stripes := bytes.Repeat([]byte{0, 255, 255, 255}, 2500)
	f.Page().Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, gardens)
	f.Page().Grey(stripes, 100, 100)
	f.Page().Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, rivers)
	f.Page()
	f.Page().Grey(stripes, 100, 100).Text(pdfmake.Regular, 11, 60, 60, "Page 5")
	return f.Bytes()
}

func TestPDFPictures(t *testing.T) {
	t.Parallel()
	reader, store := &scriptedOCR{name: "scripted eng"}, &memoryStore{}
	options := document.Options{Readers: document.Readers{PDF: pdfReader(t), OCR: reader}, Store: store}
	doc, err := parsePDF(t, mixed(), options)
	if err != nil {
		t.Fatal(err)
	}
	const line = "says what it shows in a line that is broken and goes on."
	want := []pdfRow{
		{1, document.Paragraph, "", strings.ReplaceAll(gardens, "\u00AD", "")},
		{2, document.Heading, "Picture 1", "Picture 1"},
		{2, document.Paragraph, "Picture 1", line},
		{3, document.Paragraph, "Picture 1", rivers},
		{5, document.Heading, "Picture 2", "Picture 2"},
		{5, document.Paragraph, "Picture 2", line},
	}
	if diff := cmp.Diff(want, rowsOf(doc)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if doc.PageCount != 5 || doc.RecognizedPages != 3 || reader.calls != 2 {
		t.Errorf("%d pages, %d recognized, %d calls of the reader", doc.PageCount, doc.RecognizedPages, reader.calls)
	}

	t.Run("Again", func(t *testing.T) {
		again, err := parsePDF(t, mixed(), options)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(doc, again); diff != "" || reader.calls != 2 {
			t.Errorf("after %d calls of the reader (-first +again):\n%s", reader.calls, diff)
		}
	})
	t.Run("OtherLanguages", func(t *testing.T) {
		other := &scriptedOCR{name: "scripted deu"}
		options.Readers.OCR = other
		if _, err := parsePDF(t, mixed(), options); err != nil || other.calls != 2 {
			t.Errorf("%d calls of the other reader, %v", other.calls, err)
		}
	})
	t.Run("Forced", func(t *testing.T) {
		reader, options := &scriptedOCR{name: "forced"}, options
		options.Readers.OCR, options.ForceOCR, options.Store = reader, true, nil
		forced, err := parsePDF(t, mixed(), options)
		if err != nil || forced.RecognizedPages != 5 || reader.calls != 4 || strings.Contains(forced.Text, "botanical") {
			t.Errorf("%d recognized, %d calls, %v: %s", forced.RecognizedPages, reader.calls, err, forced.Text)
		}
	})
	t.Run("WithoutReader", func(t *testing.T) {
		plain, err := parsePDF(t, mixed(), document.Options{})
		if err != nil || plain.RecognizedPages != 0 || len(plain.Blocks) != 3 {
			t.Errorf("%d recognized, %v: %v", plain.RecognizedPages, err, rowsOf(plain))
		}
	})
}

// TestPDFLittleText keeps the letters of a page's few words when its picture says no more, and not
// when it does.
func TestPDFLittleText(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	f.Page().Column(60, 60, 475).Paragraph(pdfmake.Regular, 20, "Part seven: the sea")
	reader := pdfReader(t)
	for says, want := range map[string]string{
		"Part sewen: the sca": "Part seven: the sea",
		"":                    "Part seven: the sea",
		"Part seven: the sea, with a map of its islands": "Part seven: the sea, with a map of its islands",
	} {
		pictures := &scriptedOCR{name: "x", says: says + " "}
		doc, err := parsePDF(t, f.Bytes(), document.Options{Readers: document.Readers{PDF: reader, OCR: pictures}})
		if err != nil || doc.Text != want || pictures.calls != 1 {
			t.Errorf("%q after %d calls, %v; want %q", doc.Text, pictures.calls, err, want)
		}
	}
}

// TestPDFResumes breaks a run at its second picture: the next one pays for what is left.
func TestPDFResumes(t *testing.T) {
	t.Parallel()
	broken := errors.New("the machine is away")
	reader, store := &scriptedOCR{name: "x"}, &memoryStore{}
	reader.fail = func(call int) error {
		if call == 2 {
			return broken
		}
		return nil
	}
	options := document.Options{Readers: document.Readers{PDF: pdfReader(t), OCR: reader}, Store: store}
	if _, err := parsePDF(t, mixed(), options); !errors.Is(err, broken) {
		t.Fatalf("the first run: %v", err)
	}
	doc, err := parsePDF(t, mixed(), options)
	if err != nil || reader.calls != 3 || doc.RecognizedPages != 3 {
		t.Errorf("%d calls of the reader, %d recognized, %v", reader.calls, doc.RecognizedPages, err)
	}
}

// TestPDFStops checks that the errors of those who follow a run end it.
func TestPDFStops(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	readers := document.Readers{PDF: pdfReader(t), OCR: &scriptedOCR{name: "x"}}
	_, err := parsePDF(t, mixed(), document.Options{Readers: readers, Store: &memoryStore{err: enough}})
	if !errors.Is(err, enough) {
		t.Errorf("a store that fails: %v", err)
	}
	_, err = parsePDF(t, mixed(), document.Options{Readers: readers, Pages: func(int, int, int) error { return enough }})
	if !errors.Is(err, enough) {
		t.Errorf("progress that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = document.Parse(ctx, document.ApplicationPDF, bytes.NewReader(mixed()), document.Options{
		Readers: readers,
		Pages: func(int, int, int) error {
			cancel()
			return nil
		},
	})
	if _, fault := errors.AsType[*document.Error](err); fault || err == nil && ctx.Err() == nil {
		t.Errorf("a context that ends: %v", err)
	}
}

// TestPDFStrangePages have sizes from which pdftoppm makes no picture, or would make one of
// gigabytes.
func TestPDFStrangePages(t *testing.T) {
	t.Parallel()
	stripes := bytes.Repeat([]byte{0, 255, 255, 255}, 2500)
	f := pdfmake.New()
	f.Sized(14_400, 14_400).Grey(stripes, 100, 100)
	f.Sized(14_400, 1).Grey(stripes, 100, 100)
	f.Page().Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, gardens)
	reader := &scriptedOCR{name: "x"}
	doc, err := parsePDF(t, f.Bytes(), document.Options{Readers: document.Readers{PDF: pdfReader(t), OCR: reader}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(doc.Text, "botanical garden") || doc.PageCount != 3 || len(doc.Warnings) != 1 || reader.calls != 1 {
		t.Errorf("%d pages, %d pictures read, warnings %q: %s", doc.PageCount, reader.calls, doc.Warnings, doc.Text)
	}
}
