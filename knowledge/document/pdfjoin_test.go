package document_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/test/pdfmake"
)

// TestPDFRunningHeads has one paragraph on all pages, with heads, feet and a footnote between its
// parts: it stays whole, and each of them is said once.
func TestPDFRunningHeads(t *testing.T) {
	t.Parallel()
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(rivers+" "+winds, ".", "")))
	for name, row := range map[string]struct {
		pages int
		heads func(p *pdfmake.Page, page int)
		want  []string
	}{
		"on two pages": {2, func(p *pdfmake.Page, page int) {
			p.Text(pdfmake.Regular, 9, 60, 40, "Garden guide").Text(pdfmake.Regular, 9, 290, 815, fmt.Sprint(page))
		}, []string{"Garden guide"}},
		"another one on each page": {4, func(p *pdfmake.Page, page int) {
			p.Text(pdfmake.Bold, 10, 60, 40, []string{"Garden guide", "Of ferns", "Garden guide", "Of palms"}[page-1])
		}, []string{"Garden guide", "Of ferns", "Of palms"}},
		"with the page's number": {2, func(p *pdfmake.Page, page int) {
			p.Text(pdfmake.Regular, 9, 60, 40, fmt.Sprintf("Garden guide %d", page))
		}, []string{"Garden guide 1", "Garden guide 2"}},
		"a footnote and a foot": {2, func(p *pdfmake.Page, page int) {
			if p.Text(pdfmake.Regular, 9, 60, 815, "Edition of May"); page == 1 {
				p.Text(pdfmake.Regular, 7, 60, 700, "1 A kilometre is a thousand metres.")
			}
		}, []string{"1 A kilometre is a thousand metres.", "Edition of May"}},
	} {
		f := pdfmake.New()
		for page := range row.pages {
			p := f.Page()
			row.heads(p, page+1)
			part := words[page*len(words)/row.pages : (page+1)*len(words)/row.pages]
			p.Column(60, 80, 300).Paragraph(pdfmake.Regular, 11, strings.Join(part, " "))
		}
		doc, err := parsePDF(t, f.Bytes(), document.Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole := 0
		for _, block := range doc.Blocks {
			if block.Text == strings.Join(words, " ") && block.Page == 1 {
				whole++
			}
		}
		if whole != 1 || len(doc.Blocks) != 1+len(row.want) {
			t.Errorf("%s: %v", name, rowsOf(doc))
		}
		for _, head := range row.want {
			if strings.Count(doc.Text, head) != 1 {
				t.Errorf("%s: %q is not said once: %v", name, head, rowsOf(doc))
			}
		}
	}
}
