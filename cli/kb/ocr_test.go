package kb_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// TestKBOCRLanguages: only PDFs and pictures are read in languages, and a file that is there is
// read again for other ones only.
func TestKBOCRLanguages(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	w := start(t, clitest.Options{})
	scan := pdfmake.New()
	scan.Page().Text(pdfmake.Regular, 20, 60, 80, "The garden opens in March and closes when the first snow falls.")
	root := clitest.WriteTree(t, map[string]string{"scan.pdf": string(scan.Bytes()), "returns.md": returnsText})
	state := func() string {
		return strings.Join(harness.Rows[string](t, w.Env,
			"SELECT name || ' ' || array_to_string(ocr_languages, '+') || ' ' || attempt || ' ' || status FROM sources ORDER BY name"), ", ")
	}
	ingestions := func() int {
		return harness.Rows[int](t, w.Env, "SELECT count(*) FROM events WHERE type = 'kb.source_ingested'")[0]
	}
	w.kb(t, "", "add", root, "--ocr-languages", "osd,eng").Wants(t, command.ExitDone, "2 ready")
	if got := state(); got != "returns.md  1 ready, scan.pdf osd+eng 1 ready" {
		t.Errorf("added: %s", got)
	}
	w.kb(t, "", "add", root, "--ocr-languages", "osd,eng").Wants(t, command.ExitDone, "2 there already")
	w.kb(t, "", "show", "scan.pdf").Wants(t, command.ExitDone, "OCR in", "osd, eng")
	w.kb(t, "", "reprocess", "scan.pdf", "--ocr-languages", "eng").Wants(t, command.ExitDone)
	if got := w.kb(t, "", "show", "returns.md"); strings.Contains(got.Out, "OCR in") {
		t.Errorf("of a text: %s", got.Out)
	}
	if got := state(); got != "returns.md  1 ready, scan.pdf eng 1 ready" || ingestions() != 3 {
		t.Errorf("reprocessed: %s, %d ingestions", got, ingestions())
	}
	w.kb(t, "", "add", root, "--ocr-languages", "osd").Wants(t, command.ExitDone)
	if got := state(); got != "returns.md  1 ready, scan.pdf osd 1 ready" || ingestions() != 4 {
		t.Errorf("added in another language: %s, %d ingestions", got, ingestions())
	}
	w.kb(t, "", "reprocess", "scan.pdf", "--ocr-languages", "tlh").Wants(t, command.ExitFailed, "tesseract-ocr-tlh")
	w.kb(t, "", "reprocess", "scan.pdf", "--ocr-languages", "../eng").Wants(t, command.ExitFailed, "is not the name of a language")
	w.kb(t, "", "reprocess", "returns.md", "--ocr-languages", "eng").Wants(t, command.ExitFailed, "Only a PDF or a picture")
}
