package scenario

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// TestMarginsOfPDF: headers, footers and page numbers are kept once or not at all, and what a page
// says in its margin is kept although it looks alike on other pages.
func TestMarginsOfPDF(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	env := harness.Start(t, harness.Options{})
	codes := []int{7919, 5838, 1234, 4471, 9095, 3702, 6650, 2188, 8013, 5567}
	room := func(i int) string {
		return fmt.Sprintf("Room %d is on floor %d and its code is %d, keep it well", i, i%7, codes[i-1])
	}
	voucher := func(i int) string { return fmt.Sprintf("Voucher %d", codes[i-1]) }
	prose := func(i int) string {
		return "The window of this room looks at the " + []string{"yard", "river", "wood", "street", "hill"}[i%5] + ", and it has a desk."
	}
	// all is what a text has for each page, from the first to the last.
	all := func(pages int, line func(i int) string) (lines []string) {
		for i := range pages {
			lines = append(lines, line(i+1))
		}
		return lines
	}
	for name, row := range map[string]struct {
		pages int
		page  func(p *pdfmake.Page, i int)
		want  []string
	}{
		"a line with a code": {10, func(p *pdfmake.Page, i int) { p.Text(pdfmake.Regular, 12, 50, 80, room(i)) }, all(10, room)},
		"a line with a code, and prose on every second page": {10, func(p *pdfmake.Page, i int) {
			p.Text(pdfmake.Regular, 12, 50, 80, room(i))
			if i%2 == 0 {
				p.Text(pdfmake.Regular, 12, 50, 300, prose(i))
			}
		}, all(10, func(i int) string {
			if i%2 == 0 {
				return room(i) + " " + prose(i)
			}
			return room(i)
		})},
		"three vouchers": {3, func(p *pdfmake.Page, i int) { p.Text(pdfmake.Regular, 12, 50, 80, voucher(i)) }, all(3, voucher)},
		"codes alone": {3, func(p *pdfmake.Page, i int) { p.Text(pdfmake.Regular, 12, 50, 80, fmt.Sprint(codes[i])) }, []string{
			"5838", "1234", "4471",
		}},
		"pages with a number and nothing else": {3, func(p *pdfmake.Page, i int) {
			p.Text(pdfmake.Regular, 12, 50, 80, fmt.Sprintf("Lesson %d", i))
		}, []string{"Lesson 1", "Lesson 2", "Lesson 3"}},
		"numbers that begin after the page's": {3, func(p *pdfmake.Page, i int) {
			p.Text(pdfmake.Regular, 12, 50, 60, fmt.Sprintf("Invoice %d", 1000+i)).Text(pdfmake.Regular, 12, 50, 300, prose(i))
		}, []string{"Invoice 1001", prose(1), "Invoice 1002", prose(2), "Invoice 1003", prose(3)}},
		"headers and page numbers": {3, func(p *pdfmake.Page, i int) {
			p.Text(pdfmake.Regular, 9, 50, 30, "Garden guide 2026").Text(pdfmake.Regular, 9, 290, 815, fmt.Sprintf("– %d –", i)).
				Text(pdfmake.Regular, 9, 50, 60, fmt.Sprintf("Annual report, page %d of 12", i)).Text(pdfmake.Regular, 12, 50, 300, prose(i))
		}, []string{"Garden guide 2026", "Annual report, page 1 of 12", prose(1), prose(2), prose(3)}},
		"page numbers after two covers": {6, func(p *pdfmake.Page, i int) {
			if p.Text(pdfmake.Regular, 12, 50, 300, prose(i)); i > 2 {
				p.Text(pdfmake.Regular, 9, 290, 30, "Handbook").Text(pdfmake.Regular, 9, 290, 815, fmt.Sprintf("Page %d of 4", i-2))
			}
		}, []string{prose(1), prose(2), "Handbook", prose(3), prose(4), prose(5), prose(6)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := pdfmake.New()
			for i := range row.pages {
				row.page(file.Page(), i+1)
			}
			source := settled(t, env, name+".pdf", "application/pdf", string(file.Bytes()))
			chunks := env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+source.Text("id")+"/chunks?page_size=200"), nil).Must(t, 200)
			var text strings.Builder
			for _, chunk := range chunks.List("chunks") {
				fmt.Fprintln(&text, harness.Path(chunk, "content"))
			}
			got := strings.Join(strings.Fields(text.String()), " ")
			if want := strings.Join(row.want, " "); got != want {
				t.Errorf("got  %s\nwant %s\nof %s", got, want, source.Body)
			}
		})
	}
}
