package document_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/pdfmake"
)

// pdfReader is poppler in a sandbox, with the limits it ships with.
func pdfReader(t *testing.T) *poppler.Reader {
	t.Helper()
	return limitedReader(t, poppler.Deps{})
}

// limitedReader has limits of its own.
func limitedReader(t *testing.T, deps poppler.Deps) *poppler.Reader {
	t.Helper()
	box := doctools.Sandbox(t)
	deps.Sandbox, deps.Pictures = box, 1
	return poppler.New(deps)
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
		Table(11, true, []string{"Ticket", "Person", "Price"}, []string{"Day", "Adult", "€ 12.50"}, []string{
			"Day",
			"Child", "€ 4",
		}, []string{"Year", "Adult", "€ 90"}).
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
		{
			2, document.Paragraph, guide + " > Prices",
			"The glass houses are warm, and on hot days their doors are open all night. Nobody is let in after nine.",
		},
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
	p.Column(60, 120, 230).Paragraph(pdfmake.Bold, 12, "Rivers").Paragraph(pdfmake.Regular, 10,
		rivers).Paragraph(pdfmake.Regular, 10, gardens)
	p.Column(305, 126, 230).Paragraph(pdfmake.Regular, 10, tickets).Paragraph(pdfmake.Bold, 12,
		"Winds").Paragraph(pdfmake.Regular, 10, winds+" "+winds)
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

// TestPDFShortColumn has a right column of a few lines at the heights of those of the left one.
func TestPDFShortColumn(t *testing.T) {
	t.Parallel()
	for _, short := range []string{"Bring a lamp.", tickets + " They are checked at each door.", tickets + " " + winds} {
		f := pdfmake.New()
		p := f.Page()
		p.Column(60, 60, 230).Paragraph(pdfmake.Bold, 12, "Rivers").Paragraph(pdfmake.Regular, 10, rivers).
			Paragraph(pdfmake.Regular, 10, winds)
		p.Column(305, 60, 230).Paragraph(pdfmake.Bold, 12, "Tickets").Paragraph(pdfmake.Regular, 10, short)
		doc, err := parsePDF(t, f.Bytes(), document.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []pdfRow{
			{1, document.Heading, "Rivers", "Rivers"},
			{1, document.Paragraph, "Rivers", rivers},
			{1, document.Paragraph, "Rivers", winds},
			{1, document.Heading, "Tickets", "Tickets"},
			{1, document.Paragraph, "Tickets", short},
		}
		if diff := cmp.Diff(want, rowsOf(doc)); diff != "" {
			t.Errorf("blocks (-want +got):\n%s", diff)
		}
	}
}

// TestPDFWrappedHeadings has headings of several lines: larger ones with much room between their
// lines or with centred lines, and bold ones of the size of the text close above and below.
func TestPDFWrappedHeadings(t *testing.T) {
	t.Parallel()
	const heading = "The treatment of heavy pieces that cannot be lifted by the crane on the eastern quay in winter"
	for name, set := range map[string]struct {
		font       pdfmake.Font
		size, step float64
		centred    bool
	}{
		"larger, loose":   {pdfmake.Regular, 14, 22, false},
		"larger, centred": {pdfmake.Bold, 14, 17, true},
		"bold, close":     {pdfmake.Bold, 10, 12, false},
		"bold, loose":     {pdfmake.Bold, 10, 16, false},
		"bold, centred":   {pdfmake.Bold, 10, 13, true},
	} {
		f := pdfmake.New()
		c := f.Page().Column(60, 60, 300)
		c.Paragraph(pdfmake.Regular, 10, rivers+" "+winds)
		c.Y -= 6
		for _, line := range pdfmake.Wrap(set.size*1.1, 300, heading) {
			x := c.X
			if set.centred {
				x += (c.Width - pdfmake.Width(set.size, line)) / 2
			}
			c.Page.Text(set.font, set.size, x, c.Y+set.size, line)
			c.Y += set.step
		}
		c.Paragraph(pdfmake.Regular, 10, gardens)
		doc, err := parsePDF(t, f.Bytes(), document.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []pdfRow{
			{1, document.Paragraph, "", rivers + " " + winds},
			{1, document.Heading, heading, heading},
			{1, document.Paragraph, heading, strings.ReplaceAll(gardens, "\u00AD", "")},
		}
		if diff := cmp.Diff(want, rowsOf(doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPDFTextInCells has a table whose left cells have several lines each: it stays one.
func TestPDFTextInCells(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	p := f.Page()
	for i, text := range []string{gardens, rivers, winds} {
		y := 60 + 100*float64(i)
		p.Column(60, y, 230).Paragraph(pdfmake.Regular, 10, text)
		p.Column(305, y, 230).Paragraph(pdfmake.Regular, 10, []string{"the first answer", "the second answer", "the third answer"}[i])
	}
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	second := strings.Index(doc.Text, "the second answer")
	if second < strings.Index(doc.Text, "The river rises") || second > strings.Index(doc.Text, "Wind from the west") {
		t.Errorf("the answers do not stand beside their questions: %v", rowsOf(doc))
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

// TestPDFTightTable has columns that stand closer than the words after a full stop may.
func TestPDFTightTable(t *testing.T) {
	t.Parallel()
	f := pdfmake.New()
	p := f.Page()
	for i, row := range [][]string{{"Year", "Flights", "Seats", "Share"}, {
		"Spring and summer", "12,500", "13,700",
		"91.2",
	}, {"Autumn", "9,870", "11,020", "89.6"}} {
		for column, x := range []float64{60, 200, 245, 290} {
			p.Text(pdfmake.Regular, 11, x, 80+18*float64(i), row[column])
		}
	}
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []pdfRow{{
		1, document.Table, "",
		"Year | Flights | Seats | Share\nSpring and summer | 12,500 | 13,700 | 91.2\nAutumn | 9,870 | 11,020 | 89.6",
	}}
	if diff := cmp.Diff(want, rowsOf(doc)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
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
	p.Column(61.2, 200, 475).Paragraph(pdfmake.Regular, 11, tickets)
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
	for _, item := range []string{
		"1. Stout shoes.",
		"2. A map, on which the paths of the garden are marked in red and those of the wood behind it in blue, " +
			"since signs are few.", "3. Water.",
	} {
		c.Paragraph(pdfmake.Regular, 11, item)
	}
	doc, err := parsePDF(t, f.Bytes(), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := doc.Blocks[len(doc.Blocks)-1]
	want := "1. Stout shoes.\n2. A map, on which the paths of the garden are marked in red and those of the wood behind it in " +
		"blue, since signs are few.\n3. Water."
	if doc.Blocks[0].Kind != document.Heading || last.Kind != document.List || last.Text != want {
		t.Errorf("blocks: %v", rowsOf(doc))
	}
}
