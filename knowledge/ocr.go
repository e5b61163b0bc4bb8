package knowledge

import (
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/provider/ocr"
)

// maxOCRLanguages of a source; each makes OCR slower.
const maxOCRLanguages = 8

// checkOCR refuses to force OCR of anything but a PDF, and languages for what has no pictures. It
// gives the languages without repetitions. Errors: Invalid invalid-request.
func checkOCR(force bool, languages []string, mediaType string) ([]string, error) {
	isPDF := mediaType == document.ApplicationPDF
	if force && !isPDF {
		return nil, fault.InvalidField("force_ocr", "not_a_pdf", "Only a PDF can be read by OCR; this source is %s.", mediaType)
	}
	if len(languages) > 0 && !document.TakesOCR(mediaType) {
		return nil, fault.InvalidField("ocr_languages", "no_pictures",
			"Only a PDF or a picture is read by OCR; this source is %s.", mediaType)
	}
	if err := CheckOCRLanguageCount(languages); err != nil {
		return nil, err
	}
	cleaned, err := ocr.CheckLanguages(languages)
	if err != nil {
		return nil, fault.InvalidField("ocr_languages", "pattern", "%s.", err)
	}
	return cleaned, nil
}

// CheckOCRLanguageCount refuses more languages than a source may have.
// Errors: Invalid invalid-request.
func CheckOCRLanguageCount(languages []string) error {
	if len(languages) > maxOCRLanguages {
		return fault.InvalidField("ocr_languages", "max_items", "At most %d languages can be read at once.", maxOCRLanguages)
	}
	return nil
}
