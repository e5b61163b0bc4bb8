package document_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/provider/pdf"
	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/pdfmake"
)

// hasty are limits for files that have no end.
var hasty = poppler.Deps{FileCPUSeconds: 2, PageCPUSeconds: 1}

func TestPDFFaults(t *testing.T) {
	t.Parallel()
	doctools.NeedMakers(t)
	good := report().Bytes()
	many := pdfmake.New()
	for range 10_000 {
		many.Page()
	}
	bomb := pdfmake.New()
	bomb.Page().Nested(30, 10)
	full := pdfmake.New()
	full.Page().Raw("BT /F1 1 Tf " + strings.Repeat("(a) Tj 3 3 Td ", 100_001) + "ET\n")
	rows := []struct {
		name string
		file []byte
		want document.ErrorKind
	}{
		{"nothing", nil, document.Corrupt},
		{"header only", []byte("%PDF-1.7\n"), document.Corrupt},
		{"another type", []byte("PK\x03\x04 this is no PDF"), document.Corrupt},
		{"no pages", pdfmake.New().Bytes(), document.Empty},
		{"less than no pages", bytes.Replace(good, []byte("/Count "), []byte("/Count -"), 1), document.Corrupt},
		{"more pages than things", bytes.Replace(good, []byte("/Count "), []byte("/Count 99999"), 1), document.Corrupt},
		{"blank page", onePage().Bytes(), document.Empty},
		{"cut off", good[:len(good)/2], document.Corrupt},
		{"password", encrypted(t, good, "secret"), document.Encrypted},
		{"10,000 pages", many.Bytes(), document.TooManyPages},
		{"100,001 pieces of text", full.Bytes(), document.TooComplex},
		{"drawing without end", bomb.Bytes(), document.TooComplex},
	}
	readers := document.Readers{PDF: limitedReader(t, hasty)}
	for _, row := range rows {
		begun := time.Now()
		_, err := parsePDF(t, row.file, document.Options{Readers: readers})
		fault, ok := errors.AsType[*document.Error](err)
		if !ok || fault.Kind != row.want || !strings.HasSuffix(fault.Message, ".") {
			t.Errorf("%s: got %v, want %s", row.name, err, row.want)
		}
		t.Logf("%s: %s, after %s", row.name, fault.Message, time.Since(begun).Round(time.Millisecond))
	}
}

func onePage() *pdfmake.File {
	f := pdfmake.New()
	f.Page()
	return f
}

// encrypted lets a file be opened with a password, or without, and changed with another.
func encrypted(t *testing.T, file []byte, password string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.pdf"), filepath.Join(dir, "out.pdf")
	if err := os.WriteFile(in, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "qpdf", "--encrypt", password, "owner", "256", "--extract=n", "--",
		in, out).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v: %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPDFBrokenPage has a page that never ends and one that is not there among sound ones.
func TestPDFBrokenPage(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	for number := 1; number <= 12; number++ {
		p := f.Page()
		p.Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, fmt.Sprintf("This is page %d. %s", number, gardens))
		switch number {
		case 4:
			p.Nested(30, 10)
		case 12:
			p.Missing()
		}
	}
	doc, err := parsePDF(t, f.Bytes(), document.Options{Readers: document.Readers{PDF: limitedReader(t, hasty)}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Page 4 could not be read: it is too complex.", "Page 12 could not be read: it is damaged."}
	if diff := cmp.Diff(want, doc.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	var pages []int
	for _, b := range doc.Blocks {
		if !strings.HasPrefix(b.Text, fmt.Sprintf("This is page %d. ", b.Page)) {
			t.Errorf("page %d says %q", b.Page, b.Text)
		}
		pages = append(pages, b.Page)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 5, 6, 7, 8, 9, 10, 11}, pages); diff != "" || doc.PageCount != 12 {
		t.Errorf("of %d pages (-want +got):\n%s", doc.PageCount, diff)
	}
}

// TestPDFEndlessPictures: pages that would be drawn for ever cost their time a few times, not as
// often as there are pages; what needs no drawing is kept.
func TestPDFEndlessPictures(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	const endless, pages = 2, 4
	lines := strings.Repeat("0 0 m 500 700 l S ", 400_000)
	for range pages {
		f.Page().Raw(lines)
	}
	f.Page().Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, gardens)
	limits := poppler.Deps{PageCPUSeconds: 1, EndlessPages: endless, Pictures: 1}
	reader := &scriptedOCR{name: "scripted eng"}
	doc, err := parsePDF(t, f.Bytes(), document.Options{Readers: document.Readers{PDF: limitedReader(t, limits), OCR: reader}})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for page := 1; page <= pages; page++ {
		why := "it cannot be drawn."
		if page > endless {
			why = "it is not drawn any more after so many pages that take too long."
		}
		want = append(want, fmt.Sprintf("Page %d could not be read: %s", page, why))
	}
	if diff := cmp.Diff(want, doc.Warnings); diff != "" || reader.calls != 0 {
		t.Errorf("%d pictures were read; warnings (-want +got):\n%s", reader.calls, diff)
	}
	if len(doc.Blocks) != 1 || doc.Blocks[0].Page != pages+1 {
		t.Errorf("blocks: %+v", doc.Blocks)
	}
}

// TestPDFPanics: what panics on the way of a page is a fault of that page or file, and ends nothing
// else, in whatever goroutine it is.
func TestPDFPanics(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"text", "picture", "page"} {
		crash := func(at string) {
			if at == where {
				panic("while at the " + at)
			}
		}
		reader := &scriptedOCR{name: "scripted eng", fail: func(int) error { crash("picture"); return nil }}
		options := pdf.Options{OCR: reader, Known: func(int) (pdf.Recognition, bool) { crash("text"); return pdf.Recognition{}, false }}
		faults := 0
		err := pdfReader(t).Read(t.Context(), bytes.NewReader(mixed()), options, func(page pdf.Page) error {
			crash("page")
			if page.Fault != nil {
				faults++
			}
			return nil
		})
		fault, ok := errors.AsType[*pdf.Fault](err)
		switch {
		case where == "text" && (err != nil || faults != 3): // the pages that need their picture
			t.Errorf("%s: %v, %d faults of pages, want 3", where, err, faults)
		case where != "text" && (!ok || fault.Kind != pdf.Corrupt):
			t.Errorf("%s: got %v, want a fault of the file", where, err)
		}
	}
}
