package doctor_test

import (
	"testing"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/test/doctools"
)

func TestDocuments(t *testing.T) {
	doctools.Need(t)
	in := installation{}
	found := in.examine(t, "documents", nil)
	wantsNothingWorse(t, found, doctor.Warning)
	wants(t, found, "sandbox", doctor.OK, "no network")
	wants(t, found, "pdf", doctor.OK, "")
	wants(t, found, "ocr", doctor.OK, "tesseract ")

	wants(t, in.with("PARLANCE_OCR_LANGUAGES", "eng,tlh").examine(t, "documents", nil), "ocr", doctor.Failed, "tesseract-ocr-tlh")
	wants(t, in.with("PARLANCE_SCRATCH_DIR", "/no/such/directory").examine(t, "documents", nil), "sandbox",
		doctor.Failed, "/no/such/directory")

	t.Setenv("PATH", t.TempDir())
	found = in.examine(t, "documents", nil)
	wants(t, found, "pdf", doctor.Warning, "pdfinfo")
	wants(t, found, "ocr", doctor.Warning, "tesseract")
}
