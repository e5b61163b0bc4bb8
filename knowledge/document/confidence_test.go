package document_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/pdfmake"
)

// scan has so many pages that are only a picture.
func scan(pages int) []byte {
	f := pdfmake.New()
	for range pages {
		f.Page().Grey(bytes.Repeat([]byte{0, 255, 255, 255}, 2500), 100, 100)
	}
	return f.Bytes()
}

// TestLowConfidence has one warning for all pages that OCR was not sure of, also when they were
// kept of an earlier run.
func TestLowConfidence(t *testing.T) {
	t.Parallel()
	const rest = "read by OCR with low confidence (40 of 100): the text may be wrong. " +
		"Set ocr_languages (installed: deu, eng) or upload a better scan."
	reader := limitedReader(t, poppler.Deps{Pictures: 1})
	for want, low := range map[string][]int{
		"":                                nil,
		"Page 1 was " + rest:              {1},
		"Pages 1 and 3 were " + rest:      {1, 3},
		"Pages 2 to 4 and 6 were " + rest: {2, 3, 4, 6},
		"Pages 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 3 more were " + rest: {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 24},
	} {
		pictures := &scriptedOCR{name: "x", confidence: map[int]float64{}}
		pages := 6
		for i := range 24 {
			pictures.confidence[i+1] = ocr.LowConfidence
		}
		for _, page := range low {
			pages = max(pages, page)
			pictures.confidence[page] = 40
		}
		options := document.Options{Readers: document.Readers{PDF: reader, OCR: pictures}, Store: &memoryStore{}}
		for _, run := range []string{"at first", "again"} {
			doc, err := parsePDF(t, scan(pages), options)
			if got := strings.Join(doc.Warnings, "|"); err != nil || got != want || pictures.calls != pages {
				t.Errorf("%s: %q after %d calls, %v; want %q", run, got, pictures.calls, err, want)
			}
		}
	}
}

// TestScripts names the script that most pages look like.
func TestScripts(t *testing.T) {
	t.Parallel()
	pictures := &scriptedOCR{name: "x", confidence: map[int]float64{1: 20, 2: 20, 3: 20}, scripts: []string{"Greek", "", "Greek"}}
	readers := document.Readers{PDF: limitedReader(t, poppler.Deps{Pictures: 1}), OCR: pictures}
	doc, err := parsePDF(t, scan(3), document.Options{Readers: readers})
	if err != nil || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "may be wrong. The script looks like Greek. Set") {
		t.Errorf("%q, %v", doc.Warnings, err)
	}
}

// TestMissingLanguage fails before any page is read; one that is there is passed on.
func TestMissingLanguage(t *testing.T) {
	t.Parallel()
	pictures := &scriptedOCR{name: "x"}
	options := document.Options{Readers: document.Readers{PDF: pdfReader(t), OCR: pictures}, OCRLanguages: []string{"eng", "chi_sim"}}
	_, err := parsePDF(t, scan(1), options)
	fault, ok := errors.AsType[*document.Error](err)
	if !ok || fault.Kind != document.Unsupported || !strings.Contains(fault.Message, "install tesseract-ocr-chi-sim") || pictures.calls > 0 {
		t.Errorf("after %d calls: %v", pictures.calls, err)
	}
	store := &memoryStore{}
	options.OCRLanguages, options.Store = []string{"deu", "eng"}, store
	if _, err := parsePDF(t, scan(1), options); err != nil || cmp.Diff(pictures.languages, options.OCRLanguages) != "" {
		t.Errorf("read in %q, %v", pictures.languages, err)
	}
	if len(store.pages["x deu eng"]) != 1 {
		t.Errorf("kept: %v", store.pages)
	}
}

// TestPictureInLanguages reads an English page in English and in another language.
func TestPictureInLanguages(t *testing.T) {
	t.Parallel()
	readers, png := realReaders(t), drawn(t, report().Bytes(), "1", "png")
	read := func(languages ...string) (document.Document, error) {
		return document.Parse(t.Context(), document.ImagePNG, bytes.NewReader(png),
			document.Options{Readers: readers, OCRLanguages: languages})
	}
	english, err := read("eng")
	if err != nil || english.Warnings != nil || !strings.Contains(english.Text, "glasshouses from April") {
		t.Errorf("%q, %v: %s", english.Warnings, err, english.Text)
	}
	if other, err := read("osd"); err != nil || other.Text == english.Text {
		t.Errorf("%v: %s", err, other.Text)
	}
	_, err = read("tlh")
	if fault, ok := errors.AsType[*document.Error](err); !ok || fault.Kind != document.Unsupported ||
		!strings.Contains(fault.Message, "tesseract-ocr-tlh") {
		t.Errorf("missing: %v", err)
	}
}

// TestPictureWithLowConfidence warns of a page whose letters are mirrored.
func TestPictureWithLowConfidence(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	f.Page().Raw("q -1 0 0 1 595 0 cm\n").Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, gardens)
	doc, err := document.Parse(t.Context(), document.ImagePNG, bytes.NewReader(drawn(t, f.Bytes(), "1", "png")),
		document.Options{Readers: realReaders(t)})
	if err != nil || len(doc.Warnings) != 1 || !strings.HasPrefix(doc.Warnings[0], "Page 1 was read by OCR with low confidence") {
		t.Errorf("%q, %v: %s", doc.Warnings, err, doc.Text)
	}
}
