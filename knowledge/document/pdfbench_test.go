package document_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/pdfmake"
)

// BenchmarkPDF reads 1,000 pages of text beside pdftotext, which gives their words alone.
func BenchmarkPDF(b *testing.B) {
	doctools.Need(b)
	const pages = 1000
	f := pdfmake.New()
	for i := range pages {
		c := f.Page().Column(60, 60, 475).Paragraph(pdfmake.Bold, 14, fmt.Sprintf("Section %d", i+1))
		for range 4 {
			c.Paragraph(pdfmake.Regular, 11, gardens).Paragraph(pdfmake.Regular, 11, rivers).Paragraph(pdfmake.Regular, 11, winds)
		}
	}
	data := f.Bytes()
	name := filepath.Join(b.TempDir(), "in.pdf")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		b.Fatal(err)
	}
	box, err := sandbox.New(b.Context(), sandbox.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = box.Close() }()
	readers := document.Readers{PDF: poppler.New(poppler.Deps{Sandbox: box})}
	perPage := func(b *testing.B) { b.ReportMetric(pages*float64(b.N)/b.Elapsed().Seconds(), "pages/s") }
	b.Run("Parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := document.Parse(b.Context(), document.ApplicationPDF, bytes.NewReader(data),
				document.Options{Readers: readers}); err != nil {
				b.Fatal(err)
			}
		}
		perPage(b)
	})
	b.Run("pdftotext", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), "pdftotext", name, os.DevNull).Run(); err != nil {
				b.Fatal(err)
			}
		}
		perPage(b)
	})
}
