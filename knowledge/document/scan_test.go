package document_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/provider/ocr/tesseract"
	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/pdfmake"
)

// realReaders are the programs themselves, with the limits they ship with.
func realReaders(t *testing.T) document.Readers {
	t.Helper()
	doctools.NeedMakers(t)
	box := doctools.Sandbox(t)
	pictures, err := tesseract.New(t.Context(), tesseract.Options{Sandbox: box})
	if err != nil {
		t.Fatal(err)
	}
	return document.Readers{PDF: poppler.New(poppler.Deps{Sandbox: box}), OCR: pictures}
}

// drawn is a page of a PDF as a picture, "png" or "jpeg".
func drawn(t *testing.T, file []byte, page, format string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.pdf")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	picture, err := exec.CommandContext(t.Context(), "pdftoppm", "-f", page, "-l", page, "-r", "150", "-gray", "-"+format, name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// webp makes a WEBP of a PNG.
func webp(t *testing.T, png []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.png"), filepath.Join(dir, "out.webp")
	if err := os.WriteFile(in, png, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "cwebp", "-quiet", "-q", "90", in, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("cwebp: %v: %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// headings are the paths of a document's headings.
func headings(doc document.Document) string {
	var all []string
	for _, b := range doc.Blocks {
		if b.Kind == document.Heading {
			all = append(all, strings.Join(b.HeadingPath, " > "))
		}
	}
	return strings.Join(all, "\n")
}

// TestScannedPDF has the report's first page as a scan before its others as text.
func TestScannedPDF(t *testing.T) {
	t.Parallel()
	readers := realReaders(t)
	scan := drawn(t, report().Bytes(), "1", "jpeg")
	f := pdfmake.New()
	f.Page().JPEG(scan)
	f.Page().Column(60, 60, 475).Paragraph(pdfmake.Bold, 14, "Rivers").Paragraph(pdfmake.Regular, 11, rivers)
	doc, err := parsePDF(t, f.Bytes(), document.Options{Readers: readers})
	if err != nil {
		t.Fatal(err)
	}
	if doc.PageCount != 2 || doc.RecognizedPages != 1 || doc.Warnings != nil {
		t.Errorf("%d pages, %d recognized, warnings %q", doc.PageCount, doc.RecognizedPages, doc.Warnings)
	}
	page := map[string]int{
		"opens its glasshouses from April to October": 1, "eleven thousand species": 1,
		"Children under six do not pay.": 1, "nine hundred kilometres": 2,
	}
	for _, b := range doc.Blocks {
		for words, on := range page {
			if strings.Contains(b.Text, words) && b.Page == on {
				delete(page, words)
			}
		}
	}
	if len(page) > 0 || !strings.Contains(headings(doc), "Garden guide 2026 > Opening hours") {
		t.Errorf("not found: %v\nheadings:\n%s\ntext:\n%s", page, headings(doc), doc.Text)
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	readers := realReaders(t)
	png := drawn(t, report().Bytes(), "1", "png")
	for mediaType, file := range map[string][]byte{
		document.ImagePNG: png, document.ImageJPEG: drawn(t, report().Bytes(), "1", "jpeg"), document.ImageWEBP: webp(t, png),
	} {
		doc, err := document.Parse(t.Context(), mediaType, bytes.NewReader(file), document.Options{Readers: readers})
		if err != nil {
			t.Errorf("%s: %v", mediaType, err)
			continue
		}
		if doc.PageCount != 1 || doc.RecognizedPages != 1 || doc.MediaType != mediaType || doc.Blocks[0].Page != 1 ||
			!strings.Contains(doc.Text, "opens its glasshouses from April to October. Visitors find") ||
			!strings.Contains(headings(doc), "Garden guide 2026 > Opening hours") {
			t.Errorf("%s: %d pages, headings:\n%s\ntext:\n%s", mediaType, doc.PageCount, headings(doc), doc.Text)
		}
	}

	white := pdfmake.New()
	white.Page()
	for name, row := range map[string]struct {
		file []byte
		want document.ErrorKind
	}{
		"no text": {drawn(t, white.Bytes(), "1", "png"), document.Empty},
		"cut off": {png[:len(png)/2], document.Corrupt},
		"nothing": {nil, document.Corrupt},
	} {
		_, err := document.Parse(t.Context(), document.ImagePNG, bytes.NewReader(row.file), document.Options{Readers: readers})
		if fault, ok := errors.AsType[*document.Error](err); !ok || fault.Kind != row.want {
			t.Errorf("%s: got %v, want %s", name, err, row.want)
		}
	}
}
