package document

import "parlance.dev/parlance/provider/pdf"

// composePages makes blocks of what stands on pages. Errors: *Error TooLarge.
func composePages(pages []pdf.Page, limits Limits) (Document, error) {
	b := builder{limit: limits.MaxTextBytes}
	for _, page := range pages {
		b.page = page.Number
		for _, block := range page.Blocks {
			b.add(Paragraph, block.Text)
		}
	}
	return b.finish()
}
