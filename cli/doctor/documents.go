package doctor

import (
	"context"
	"errors"

	"parlance.dev/parlance/app"
)

// checkDocuments checks the programs on this machine, which only a worker needs.
func checkDocuments(ctx context.Context, d Deps, r *report) {
	found, err := app.InspectDocuments(ctx, d.Config)
	const install = "Where a worker runs: apt-get install poppler-utils tesseract-ocr bubblewrap, or the image's target " +
		"full. Servers need none of them."
	switch {
	case errors.Is(err, app.ErrNoPrograms):
		r.warn("sandbox", install, "PDF files and pictures cannot be read here: %v", err)
		return
	case err != nil:
		r.fail("sandbox", "Workers need a directory for files: see PARLANCE_SCRATCH_DIR.", "%v", err)
		return
	}
	switch {
	case found.Weakness != "":
		r.warn("sandbox", "Install bubblewrap, or run the worker in a container of its own with nothing else to reach.",
			"%s; a document that takes over its parser could reach %s", found.Sandbox, found.Weakness)
	default:
		r.ok("sandbox", "%s", found.Sandbox)
	}
	if found.PDF != nil {
		r.warn("pdf", install, "PDF files cannot be read here: %v", found.PDF)
	} else {
		r.ok("pdf", "poppler is there")
	}
	switch {
	case errors.Is(found.OCR, app.ErrLanguages):
		r.fail("ocr", "Install the packages, or correct PARLANCE_OCR_LANGUAGES: a worker does not start with it.", "%v", found.OCR)
	case found.OCR != nil:
		r.warn("ocr", install, "pictures and scanned pages cannot be read here: %v", found.OCR)
	default:
		r.ok("ocr", "%s", found.Reader)
	}
}
