package poppler

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// place is a piece of a page as pdftohtml writes it, in letters of 15 pixels.
func place(left, top, width int, text string) string {
	return fmt.Sprintf("<text top=\"%d\" left=\"%d\" width=\"%d\" height=\"17\" font=\"0\">%s</text>\n", top, left, width, text)
}

// laidOut are the texts of the blocks of a page.
func laidOut(t *testing.T, pieces ...string) []string {
	t.Helper()
	const head = "<page number=\"1\" height=\"900\" width=\"900\">\n<fontspec id=\"0\" size=\"15\"/>\n<fontspec id=\"1\" size=\"60\"/>\n"
	_, blocks := read(t, head+strings.Join(pieces, "")+"</page>\n", 1000)
	return textsOf(blocks[0])
}

// TestTurned has what Chromium and Typst make of turned text: letters and parts of words.
func TestTurned(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]struct {
		pieces []string
		want   []string
	}{
		"Up": {
			[]string{
				place(225, 512, 0, "R"), place(225, 502, 0, "e"), place(225, 493, 0, "ads "), place(225, 461, 0, "u"),
				place(225, 452, 0, "p"), place(225, 442, 0, " T"), place(225, 431, 0, "o"),
			},
			[]string{"Reads up To"},
		},
		"Down": {
			[]string{place(472, 411, 0, "Re"), place(472, 428, 0, "a"), place(472, 437, 0, "d d"), place(472, 460, 0, "own")},
			[]string{"Read down"},
		},
		"UpsideDown": {
			[]string{place(302, 586, -10, "Up"), place(282, 586, -7, "sid"), place(260, 586, -8, "e d"), place(240, 586, -8, "own")},
			[]string{"Upside down"},
		},
		"WithoutSpaces": {
			[]string{place(100, 600, 0, "three"), place(100, 561, 0, "small"), place(100, 518, 0, "words")},
			[]string{"three small words"},
		},
		"Table": {
			[]string{
				place(100, 600, 0, "Flag"), place(100, 400, 0, "A"), place(100, 390, 0, "utumn"), place(100, 200, 0, "Winter"),
				place(130, 600, 0, "Nor"), place(130, 576, 0, "way"), place(130, 400, 0, "97"), place(130, 200, 0, "6 and more"),
			},
			[]string{"Flag\tAutumn\tWinter\nNorway\t97\t6 and more"},
		},
		"Slanted": {
			[]string{
				place(50, 100, 300, "Some words of the page."), place(201, 325, 77, "CO"), place(278, 300, 62, "PY"),
				place(340, 275, 79, " tw"), place(419, 250, 32, "o"),
			},
			[]string{"Some words of the page.", "COPY two"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(page.want, laidOut(t, page.pieces...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLines has lines that pdftohtml gives in an unusual form.
func TestLines(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]struct {
		pieces []string
		want   []string
	}{
		"DropCap": {
			[]string{
				strings.Replace(place(85, 128, 47, "E"), `height="17" font="0"`, `height="75" font="1"`, 1),
				place(139, 137, 400, "arly maps of the coast show harbours"),
				place(139, 154, 400, "behind them. Sailors drew them, and what lay in"), place(85, 171, 454, "land was no concern of theirs."),
			},
			[]string{"Early maps of the coast show harbours\nbehind them. Sailors drew them, and what lay in\nland was no concern of theirs."},
		},
		"FusedCells": {
			[]string{
				place(85, 100, 54, "Hanwick"), place(194, 100, 34, "06:12"), place(251, 100, 34, "07:40"),
				place(85, 118, 200, "Ashby Road        06:20     07:48"),
			},
			[]string{"Hanwick\t06:12\t07:40\nAshby Road\t06:20\t07:48"},
		},
		"JoinedCells": {
			[]string{
				place(85, 100, 54, "Hanwick"), place(194, 100, 30, "1.20"), place(240, 100, 30, "4.10"), place(286, 100, 30, "9.30"),
				place(85, 118, 54, "Ashby"), place(194, 118, 76, "2.20 5.10"), place(286, 118, 30, "8.30"),
				place(85, 136, 54, "Corran"), place(194, 136, 30, "3.20"), place(240, 136, 76, "6.10 7.30"),
				place(85, 154, 54, "Brae"), place(194, 154, 30, "4.20"), place(240, 154, 30, "7.10"), place(286, 154, 30, "6.30"),
				place(85, 172, 54, "Fold"), place(194, 172, 30, "5.20"), place(240, 172, 30, "8.10"), place(286, 172, 30, "5.30"),
			},
			[]string{
				"Hanwick\t1.20\t4.10\t9.30\nAshby\t2.20\t5.10\t8.30\nCorran\t3.20\t6.10\t7.30\n" +
					"Brae\t4.20\t7.10\t6.30\nFold\t5.20\t8.10\t5.30",
			},
		},
		"Index": {
			[]string{
				place(50, 100, 80, "abbey, 12"), place(75, 118, 90, "charters of, 45"), place(75, 136, 60, "fire, 46"),
				place(50, 154, 76, "ash, 31"), place(50, 172, 120, "bees, 102, 118"), place(50, 190, 50, "eels, 71"),
				place(300, 100, 110, "ferry, 9, 15, 90"), place(300, 118, 70, "glass, 120"), place(325, 136, 84, "cooling, 128"),
				place(325, 154, 60, "sand, 121"), place(300, 172, 96, "ink, 48, 50, 52"), place(300, 190, 40, "wax, 1"),
			},
			[]string{
				"abbey, 12", "charters of, 45\nfire, 46\nash, 31\nbees, 102, 118\neels, 71",
				"ferry, 9, 15, 90\nglass, 120", "cooling, 128\nsand, 121\nink, 48, 50, 52\nwax, 1",
			},
		},
		"WrappedCells": {
			[]string{
				place(85, 100, 40, "4 April"), place(194, 100, 100, "The cold store"), place(351, 100, 100, "An alarm rings"),
				place(194, 118, 90, "was too warm."), place(351, 118, 80, "at the gate."),
				place(85, 156, 40, "9 April"), place(194, 156, 100, "Two pallets"), place(351, 156, 100, "Labels are tall"),
				place(194, 174, 60, "got lost."), place(351, 174, 60, "now."),
			},
			[]string{"4 April\tThe cold store was too warm.\tAn alarm rings at the gate.\n9 April\tTwo pallets got lost.\tLabels are tall now."},
		},
		"WrappedFirstCells": {
			[]string{
				place(85, 100, 80, "The harbour"), place(300, 100, 200, "keeps a book of the ships"),
				place(85, 118, 50, "master"), place(300, 118, 200, "that call, and of what they"), place(300, 136, 60, "carry."),
				place(85, 170, 80, "The pilot"), place(300, 170, 120, "is paid by the ship"),
				place(85, 188, 50, "of Brae"), place(85, 222, 60, "Customs"), place(300, 222, 120, "close at six."),
			},
			[]string{
				"The harbour master\tkeeps a book of the ships that call, and of what they carry.\n" +
					"The pilot of Brae\tis paid by the ship\nCustoms\tclose at six.",
			},
		},
		"GroupsOfRows": {
			[]string{
				place(85, 100, 40, "North"), place(194, 100, 100, "Brae"), place(351, 100, 30, "12"),
				place(194, 118, 90, "Corran"), place(351, 118, 30, "7"),
				place(85, 156, 40, "South"), place(194, 156, 100, "Ashby"), place(351, 156, 30, "4"),
			},
			[]string{"North\tBrae\t12\n\tCorran\t7\nSouth\tAshby\t4"},
		},
		"SoftHyphen": {
			[]string{place(85, 100, 200, "the sky con\u00AD"), place(85, 117, 200, "siderably")},
			[]string{"the sky con\u00AD\nsiderably"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(page.want, laidOut(t, page.pieces...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
