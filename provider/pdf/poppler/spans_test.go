package poppler

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/pdf"
)

// output is what pdftohtml writes of two pages.
const output = `<?xml version="1.0" encoding="UTF-8"?>
<pdf2xml producer="poppler" version="22.12.0">
 link to page 5  link to page 1 <page number="1" position="absolute" top="0" left="0" height="1262" width="892">
	<fontspec id="0" size="30" family="Times" color="#000000"/>
	<fontspec id="1" size="15" family="Times" color="#000000"/>
<text top="60" left="90" width="300" height="28" font="0"><b>Fish &amp; <i>chips</i></b></text>
<text top="100" left="90" width="300" height="14" font="1">5 &lt; 6, says <a href="https://x.example/?a=1&amp;b">a page
 of ours</a> </text>
<text top="100" left="400" width="0" height="14" font="1">turned</text>
<text top="130" left="90" width="10" height="14" font="1"> </text>
</page>
<page number="3" position="absolute" top="0" left="0" height="1262" width="892">
<text top="60" left="90" width="300" height="14" font="1">The last</text>
</page>
<outline><item page="1">Fish</item></outline>
</pdf2xml>
`

// read gives the blocks of each page of an output that comes in pieces of so many bytes.
func read(t *testing.T, written string, piece int) (pages []int, blocks [][]pdf.Block) {
	t.Helper()
	var order orderer
	in := &sheets{first: 1, last: 5, each: func(page sheet) error {
		pages, blocks = append(pages, page.number), append(blocks, order.blocksOf(page))
		return nil
	}}
	for at := 0; at < len(written); at += piece {
		if _, err := in.Write([]byte(written[at:min(at+piece, len(written))])); err != nil {
			t.Fatal(err)
		}
	}
	return pages, blocks
}

func TestSheets(t *testing.T) {
	t.Parallel()
	for _, piece := range []int{1, 7, len(output)} {
		pages, blocks := read(t, output, piece)
		want := [][]pdf.Block{
			{
				{Text: "Fish & chips", LinePoints: 20, Bold: true, TopPoints: 40, BottomPoints: 40 + 28/1.5},
				{Text: "5 < 6, says a page  of ours", LinePoints: 10, TopPoints: 100 / 1.5, BottomPoints: 114 / 1.5},
				{Text: "turned", LinePoints: 10},
			},
			{{Text: "The last", LinePoints: 10, TopPoints: 40, BottomPoints: 74 / 1.5}},
		}
		if diff := cmp.Diff(want, blocks, cmp.Comparer(func(a, b float64) bool { return a-b < 0.01 && b-a < 0.01 })); diff != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", piece, diff)
		}
		if diff := cmp.Diff([]int{1, 3}, pages); diff != "" {
			t.Errorf("pages (-want +got):\n%s", diff)
		}
	}
}

// TestRightToLeft has lines of two pieces, whose letters are given from left to right, as are the
// pieces.
func TestRightToLeft(t *testing.T) {
	t.Parallel()
	_, blocks := read(t, `<page number="1" height="900" width="900">
<text top="60" left="100" width="90" height="14" font="1">.םיחרפה 2024 ןג</text>
<text top="60" left="200" width="90" height="14" font="1">םלוע word םולש</text>
<text top="120" left="100" width="200" height="14" font="1">A word of םולש ןג, twice.</text>
</page>
`, 50)
	want := []string{"שלום word עולם גן 2024 הפרחים.", "A word of גן שלום, twice."}
	if diff := cmp.Diff(want, textsOf(blocks[0])); diff != "" {
		t.Error(diff)
	}
}

func textsOf(blocks []pdf.Block) []string {
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return texts
}

// FuzzSheets checks that pages rise, that it does not matter how the output is cut into pieces, and
// that blocks hold no more than was written.
func FuzzSheets(f *testing.F) {
	f.Add(output, 3)
	f.Add(strings.ReplaceAll(output, `number="3"`, `number="1"`), 100)
	f.Add("<page number=\"2\"><text top=\"1e999\" left=\"NaN\" width=\"-3\" height=\"5\" font=\"x\">a\tb</text>\n<text "+
		">x</text>\n</page>\n", 1)
	f.Fuzz(func(t *testing.T, written string, piece int) {
		pages, blocks := read(t, written, min(max(piece, 1), 1<<20))
		whole, same := read(t, written, len(written)+1)
		if diff := cmp.Diff(whole, pages); diff != "" {
			t.Errorf("pages in pieces: %s", diff)
		}
		if diff := cmp.Diff(same, blocks); diff != "" {
			t.Errorf("blocks in pieces: %s", diff)
		}
		chars := 0
		for i, page := range pages {
			if page < 1 || page > 5 || i > 0 && page <= pages[i-1] {
				t.Errorf("page %d after %v", page, pages[:i])
			}
			for _, b := range blocks[i] {
				chars += len(strings.ReplaceAll(b.Text, "\t", ""))
				if b.BottomPoints < b.TopPoints || b.Text == "" {
					t.Errorf("a block without extent or text: %+v", b)
				}
			}
		}
		if utf8.ValidString(written) && chars > 2*len(written) {
			t.Errorf("%d characters of %d bytes", chars, len(written))
		}
	})
}

// TestHostilePages lays out pages that would take forever if the work were not bounded; the time
// limit of the tests fails it.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	const pieces = 20_000
	random := rand.New(rand.NewPCG(1, 2))
	patterns := map[string]func(i int) (left, top, width, height int){
		"one place":   func(int) (int, int, int, int) { return 10, 10, 50, 10 },
		"one line":    func(i int) (int, int, int, int) { return i * 30, 10, 10, 10 },
		"one column":  func(i int) (int, int, int, int) { return 10, i * 12, 500, 10 },
		"many places": func(int) (int, int, int, int) { return random.IntN(900), random.IntN(900), 20, 10 },
		"edges":       func(i int) (int, int, int, int) { return i % 12 * 70, i / 12 * 12, 60, 10 },
		"tall":        func(i int) (int, int, int, int) { return i % 100 * 9, i, 8, 900 },
		"staircase":   func(i int) (int, int, int, int) { return i % 900, i, 200, 10 },
	}
	for name, place := range patterns {
		var page strings.Builder
		page.WriteString("<page number=\"1\" height=\"900\" width=\"900\">\n")
		for i := range pieces {
			left, top, width, height := place(i)
			fmt.Fprintf(
				&page, "<text top=\"%d\" left=\"%d\" width=\"%d\" height=\"%d\" font=\"0\">some words of %d pieces</text>\n", top, left, width,
				height, i,
			)
		}
		page.WriteString("</page>\n")
		_, blocks := read(t, page.String(), 1<<16)
		chars := 0
		for _, b := range blocks[0] {
			chars += len(b.Text)
		}
		if chars < 15*pieces {
			t.Errorf("%s: %d characters are left", name, chars)
		}
	}
}

func TestIsUsable(t *testing.T) {
	t.Parallel()
	const words = "Tickets are sold at the gate from nine to five. Children under six do not pay."
	for text, want := range map[string]bool{
		"":                                     false,
		"Page 7 of 12":                         false,
		strings.Repeat(" .\n", 30):             false,
		strings.Repeat("abcde ", 10):           true,
		words:                                  true,
		strings.Repeat("\uFFFD", 60) + "words": false,
		strings.Repeat("\uE012\uE044 ", 40):    false,
		words + "\uFFFD\uE012":                 true,
	} {
		if got := isUsable([]pdf.Block{{Text: text}}); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
