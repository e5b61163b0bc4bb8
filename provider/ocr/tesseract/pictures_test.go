package tesseract_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/ocr/tesseract"
	"parlance.dev/parlance/test/doctools"
)

func newReader(t *testing.T, o tesseract.Options) *tesseract.Reader {
	t.Helper()
	doctools.Need(t)
	if o.Sandbox == nil {
		o.Sandbox = newSandbox(t)
	}
	reader, err := tesseract.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

func newSandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// page is a page of A5 that is drawn by operators of PDF, turned by so many degrees.
func page(operators string, degrees int) []byte {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]/Rotate %d/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>", degrees),
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(operators), operators),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets strings.Builder
	for i, object := range objects {
		fmt.Fprintf(&offsets, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF", offsets.String(), start)
	return b.Bytes()
}

// write are operators that write lines of one size from a height downwards.
func write(size, left, top int, lines ...string) string {
	return fmt.Sprintf("BT /F1 %d Tf %d %d Td %d TL (%s) Tj ET\n", size, left, top, size*4/3, strings.Join(lines, ") Tj T* ("))
}

// picture draws a page.
func picture(t *testing.T, format, operators string, degrees int) []byte {
	t.Helper()
	return doctools.Render(t, page(operators, degrees), format)
}
