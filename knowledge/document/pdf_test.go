package document_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/pdfmake"
)

// pdfReader is poppler in a sandbox, with a second for a page and for a file.
func pdfReader(t *testing.T) *poppler.Reader {
	t.Helper()
	doctools.Need(t)
	box, err := sandbox.New(t.Context(), sandbox.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return poppler.New(poppler.Deps{Sandbox: box, Pictures: 1, FileCPUSeconds: 2, PageCPUSeconds: 1})
}

func parsePDF(t *testing.T, file []byte, options document.Options) (document.Document, error) {
	t.Helper()
	if options.Readers.PDF == nil {
		options.Readers.PDF = pdfReader(t)
	}
	return document.Parse(t.Context(), document.ApplicationPDF, bytes.NewReader(file), options)
}

type pdfRow struct {
	Page int
	Kind document.BlockKind
	Path string
	Text string
}

func rowsOf(doc document.Document) []pdfRow {
	var rows []pdfRow
	for _, b := range doc.Blocks {
		rows = append(rows, pdfRow{b.Page, b.Kind, strings.Join(b.HeadingPath, " > "), b.Text})
	}
	return rows
}

const (
	gardens = "The botanical garden opens its glass\u00ADhouses from April to Octo\u00ADber. Visitors find more than eleven thousand " +
		"species there, among them state-of-the-art collections of orchids, and the oldest fern of the country."
	tickets = "Tickets are sold at the gate. Children under six do not pay."
	rivers  = "The river rises in the mountains and reaches the sea after nine hundred kilometres, most of which ships can use " +
		"since the locks were finished. Its water drives four power stations on the way."
	winds = "Wind from the west brings rain in autumn, and the long dry days of February come with wind from the east, which " +
		"farmers have a name for in every valley."
)

// report is a document of three pages with all that a text layer can have.
func report() *pdfmake.File {
	f := pdfmake.New()
	running := func(p *pdfmake.Page, number int) *pdfmake.Flow {
		p.Text(pdfmake.Regular, 9, 60, 40, "Garden guide").Text(pdfmake.Regular, 9, 290, 815, fmt.Sprintf("- %d -", number))
		return p.Column(60, 80, 300)
	}
	running(f.Page(), 1).Paragraph(pdfmake.Bold, 20, "Garden guide 2026").Paragraph(pdfmake.Bold, 14, "Opening hours").
		Paragraph(pdfmake.Regular, 11, gardens).Paragraph(pdfmake.Bold, 11, "Groups").Paragraph(pdfmake.Regular, 11, tickets)
	flow := running(f.Page(), 2).Paragraph(pdfmake.Bold, 14, "Prices").Paragraph(pdfmake.Regular, 11, "All prices are in euros.").
		Table(11, true, []string{"Ticket", "Person", "Price"}, []string{"Day", "Adult", "€ 12.50"}, []string{"Day", "Child", "€ 4"}, []string{"Year", "Adult", "€ 90"}).
		Paragraph(pdfmake.Regular, 11, "• Dogs stay outside.").Paragraph(pdfmake.Regular, 11, "• The café takes cards only.")
	flow.Paragraph(pdfmake.Regular, 11, "The glass houses are warm, and on hot days their doors are")
	running(f.Page(), 3).Paragraph(pdfmake.Regular, 11, "open all night. Nobody is let in after nine.").
		Paragraph(pdfmake.Bold, 14, "How to get here").Paragraph(pdfmake.Regular, 11, tickets)
	return f
}

func TestPDFStructure(t *testing.T) {
	t.Parallel()
	var told []string
	doc, err := parsePDF(t, report().Bytes(), document.Options{Pages: func(done, total, recognized int) error {
		told = append(told, fmt.Sprint(done, total, recognized))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	guide := "Garden guide 2026"
	want := []pdfRow{
		{1, document.Paragraph, "", "Garden guide"},
		{1, document.Heading, guide, guide},
		{1, document.Heading, guide + " > Opening hours", "Opening hours"},
		{1, document.Paragraph, guide + " > Opening hours", strings.ReplaceAll(gardens, "\u00AD", "")},
		{1, document.Heading, guide + " > Opening hours > Groups", "Groups"},
		{1, document.Paragraph, guide + " > Opening hours > Groups", tickets},
		{2, document.Heading, guide + " > Prices", "Prices"},
		{2, document.Paragraph, guide + " > Prices", "All prices are in euros."},
		{2, document.Table, guide + " > Prices", "Ticket | Person | Price\nDay | Adult | € 12.50\nDay | Child | € 4\nYear | Adult | € 90"},
		{2, document.List, guide + " > Prices", "- Dogs stay outside.\n- The café takes cards only."},
		{2, document.Paragraph, guide + " > Prices", "The glass houses are warm, and on hot days their doors are open all night. Nobody is let in after nine."},
		{3, document.Heading, guide + " > How to get here", "How to get here"},
		{3, document.Paragraph, guide + " > How to get here", tickets},
	}
	if diff := cmp.Diff(want, rowsOf(doc)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 3 0", "2 3 0", "3 3 0"}, told); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if doc.PageCount != 3 || doc.RecognizedPages != 0 || doc.Warnings != nil {
		t.Errorf("%d pages, %d recognized, warnings %q", doc.PageCount, doc.RecognizedPages, doc.Warnings)
	}
}

// TestPDFColumns sets two columns under a title that runs across both, with the lines of the right
// one half a line lower, and three columns.
func TestPDFColumns(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	p := f.Page()
	p.Column(60, 60, 475).Paragraph(pdfmake.Bold, 20, "Rivers and winds of the country")
	p.Column(60, 120, 230).Paragraph(pdfmake.Bold, 12, "Rivers").Paragraph(pdfmake.Regular, 10, rivers).Paragraph(pdfmake.Regular, 10, gardens)
	p.Column(305, 126, 230).Paragraph(pdfmake.Regular, 10, tickets).Paragraph(pdfmake.Bold, 12, "Winds").Paragraph(pdfmake.Regular, 10, winds+" "+winds)
	p = f.Page()
	for i, text := range []string{gardens, rivers, winds} {
		p.Column(50+float64(i)*170, 60, 155).Paragraph(pdfmake.Regular, 10, text+" "+text)
	}
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(gardens, "\u00AD", "")
	title := "Rivers and winds of the country"
	want := []pdfRow{
		{1, document.Heading, title, title},
		{1, document.Heading, title + " > Rivers", "Rivers"},
		{1, document.Paragraph, title + " > Rivers", rivers},
		{1, document.Paragraph, title + " > Rivers", plain},
		{1, document.Paragraph, title + " > Rivers", tickets},
		{1, document.Heading, title + " > Winds", "Winds"},
		{1, document.Paragraph, title + " > Winds", winds + " " + winds},
		{2, document.Paragraph, title + " > Winds", plain + " " + plain},
		{2, document.Paragraph, title + " > Winds", rivers + " " + rivers},
		{2, document.Paragraph, title + " > Winds", winds + " " + winds},
	}
	if diff := cmp.Diff(want, rowsOf(doc)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestPDFTables(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	rows := [][]string{{"Country", "Capital", "People"}}
	for i := range 20 {
		rows = append(rows, []string{fmt.Sprintf("Land %c", 'A'+i), fmt.Sprintf("City %c", 'A'+i), fmt.Sprint(1000 + i)})
	}
	rows[3][1] = ""
	f.Page().Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, gardens).Table(10, false, rows...).Paragraph(pdfmake.Regular, 11, tickets)
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Blocks) != 3 || doc.Blocks[1].Kind != document.Table {
		t.Fatalf("blocks: %v", rowsOf(doc))
	}
	got := strings.Split(doc.Blocks[1].Text, "\n")
	want := []string{"Country | Capital | People", "Country: Land A | Capital: City A | People: 1000"}
	if diff := cmp.Diff(want, got[:2]); diff != "" || len(got) != 21 || got[3] != "Country: Land C |  | People: 1002" {
		t.Errorf("%d rows (-want +got):\n%s\nthe fourth: %s", len(got), diff, got[3])
	}
}

func TestPDFFaults(t *testing.T) {
	t.Parallel()
	doctools.NeedMakers(t)
	good := report().Bytes()
	many := pdfmake.New()
	for range 10_000 {
		many.Page()
	}
	bomb := pdfmake.New()
	bomb.Page().Nested(30, 10)
	rows := []struct {
		name string
		file []byte
		want document.ErrorKind
	}{
		{"nothing", nil, document.Corrupt},
		{"header only", []byte("%PDF-1.7\n"), document.Corrupt},
		{"another type", []byte("PK\x03\x04 this is no PDF"), document.Corrupt},
		{"no pages", pdfmake.New().Bytes(), document.Empty},
		{"blank page", onePage().Bytes(), document.Empty},
		{"cut off", good[:len(good)/2], document.Corrupt},
		{"password", encrypted(t, good, "secret"), document.Encrypted},
		{"10,000 pages", many.Bytes(), document.TooManyPages},
		{"drawing without end", bomb.Bytes(), document.TooComplex},
	}
	readers := document.Readers{PDF: pdfReader(t)}
	for _, row := range rows {
		begun := time.Now()
		_, err := parsePDF(t, row.file, document.Options{Readers: readers})
		fault, ok := errors.AsType[*document.Error](err)
		if !ok || fault.Kind != row.want || !strings.HasSuffix(fault.Message, ".") {
			t.Errorf("%s: got %v, want %s", row.name, err, row.want)
		}
		t.Logf("%s: %s, after %s", row.name, fault.Message, time.Since(begun).Round(time.Millisecond))
	}
}

func onePage() *pdfmake.File {
	f := pdfmake.New()
	f.Page()
	return f
}

// TestPDFPermissions has a file that anyone may open, and nobody copy from.
func TestPDFPermissions(t *testing.T) {
	t.Parallel()
	doctools.NeedMakers(t)
	doc, err := parsePDF(t, encrypted(t, report().Bytes(), ""), document.Options{})
	if err != nil || doc.PageCount != 3 || !strings.Contains(doc.Text, "Tickets are sold at the gate") {
		t.Errorf("%d pages, %v", doc.PageCount, err)
	}
}

// TestPDFUnseenText has the text that scanners lay under a picture, and letters drawn twice.
func TestPDFUnseenText(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	p := f.Page().Grey(bytes.Repeat([]byte{200}, 100), 10, 10).Raw("3 Tr\n")
	p.Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, rivers)
	p.Raw("0 Tr\n").Column(60, 200, 475).Paragraph(pdfmake.Regular, 11, tickets)
	p.Column(60.4, 200, 475).Paragraph(pdfmake.Regular, 11, tickets)
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []pdfRow{{1, document.Paragraph, "", rivers}, {1, document.Paragraph, "", tickets}}
	if diff := cmp.Diff(want, rowsOf(doc)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

// TestPDFNumberedLists keeps the numbers of items, and knows a numbered heading by its size.
func TestPDFNumberedLists(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	c := f.Page().Column(60, 60, 475).Paragraph(pdfmake.Bold, 14, "2. What to bring").Paragraph(pdfmake.Regular, 11, gardens)
	for _, item := range []string{"1. Stout shoes.", "2. A map, on which the paths of the garden are marked in red and those of the wood behind it in blue, " +
		"since signs are few.", "3. Water."} {
		c.Paragraph(pdfmake.Regular, 11, item)
	}
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := doc.Blocks[len(doc.Blocks)-1]
	want := "1. Stout shoes.\n2. A map, on which the paths of the garden are marked in red and those of the wood behind it in blue, since signs are few.\n3. Water."
	if doc.Blocks[0].Kind != document.Heading || last.Kind != document.List || last.Text != want {
		t.Errorf("blocks: %v", rowsOf(doc))
	}
}

// encrypted lets a file be opened with a password, or without, and changed with another.
func encrypted(t *testing.T, file []byte, password string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.pdf"), filepath.Join(dir, "out.pdf")
	if err := os.WriteFile(in, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "qpdf", "--encrypt", password, "owner", "256", "--extract=n", "--", in, out).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v: %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPDFBrokenPage has a page that never ends and one that is not there among sound ones.
func TestPDFBrokenPage(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	for number := 1; number <= 12; number++ {
		p := f.Page()
		p.Column(60, 60, 475).Paragraph(pdfmake.Regular, 11, fmt.Sprintf("This is page %d. %s", number, gardens))
		switch number {
		case 4:
			p.Nested(30, 10)
		case 12:
			p.Missing()
		}
	}
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Page 4 could not be read: it is too complex.", "Page 12 could not be read: it is damaged."}
	if diff := cmp.Diff(want, doc.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	var pages []int
	for _, b := range doc.Blocks {
		if !strings.HasPrefix(b.Text, fmt.Sprintf("This is page %d. ", b.Page)) {
			t.Errorf("page %d says %q", b.Page, b.Text)
		}
		pages = append(pages, b.Page)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 5, 6, 7, 8, 9, 10, 11}, pages); diff != "" || doc.PageCount != 12 {
		t.Errorf("of %d pages (-want +got):\n%s", doc.PageCount, diff)
	}
}
