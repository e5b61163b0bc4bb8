package document

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/provider/pdf"
)

const (
	// margin is the part of a page's height, from above and from below, that running lines are in.
	margin = 0.12
	// minRunningPages is how many pages a line with a number in it stands on to be one; one page less
	// suffices for one without, and for a page's number.
	minRunningPages = 3
	// maxRunningChars and maxRunningNumbers of a running line. With more numbers than that, none of
	// them is taken for the page's.
	maxRunningChars, maxRunningNumbers = 160, 6
)

// pageNumberWords are the words that may stand beside a page number.
var pageNumberWords = []string{
	"page", "pages", "p", "pp", "pg", "of", "seite", "s", "von", "página", "pág", "pagina", "pag", "sur", "de", "di", "van", "from", "to",
}

// runningLine is a line in the margin, to be compared with those of other pages.
type runningLine struct {
	// before and after are the text around the number that may be the page's; before is the whole
	// text of a line that is taken as it stands.
	before, after string
	// numbered says that there is such a number, and offset how far it is from the page's place in
	// the file: a number that counts with the pages has the same offset on all of them.
	numbered bool
	offset   int
	// top is the line's height on the page, give or take a few points.
	top int
}

// isRepeated says whether a line that stands on so many pages is a running one.
func (l runningLine) isRepeated(pages int) bool {
	return pages >= minRunningPages || pages == minRunningPages-1 && (!l.numbered || l.isPageNumber())
}

// withoutRunningLines gives the blocks of all pages without what repeats in the margins:
//   - page numbers, from all pages;
//   - a line with the same text, from all pages but the first that has it;
//   - a line with the same text except for the page's number, from all but the first too, but not
//     from a page that holds nothing else.
//
// Lines whose other numbers differ, such as codes or prices, are content and stay.
func withoutRunningLines(pages []pdf.Page) []placedBlock {
	seen := map[runningLine]int{}
	for _, page := range pages {
		for _, block := range page.Blocks {
			for _, line := range runningLines(page, block) {
				seen[line]++
			}
		}
	}
	kept := map[runningLine]bool{}
	var all []placedBlock
	for i := range pages {
		var content, numbered []placedBlock
		for _, block := range pages[i].Blocks {
			lines := runningLines(pages[i], block)
			found := slices.IndexFunc(lines, func(line runningLine) bool { return line.isRepeated(seen[line]) })
			placed := placedBlock{Block: block, page: &pages[i], isRunning: found >= 0}
			switch {
			case found < 0:
				content = append(content, placed)
			case lines[found].isPageNumber():
			case !kept[lines[found]]:
				kept[lines[found]] = true
				content = append(content, placed)
			case lines[found].numbered:
				numbered = append(numbered, placed)
			}
		}
		if len(content) == 0 {
			content = numbered
		}
		all = append(all, content...)
	}
	return all
}

var numbers = regexp.MustCompile(`[0-9]+`)

// runningLines returns what a block would be as a running line: as it stands, and with each of its
// numbers as the page's. None for a block outside the margins; those of pictures have no place.
func runningLines(page pdf.Page, block pdf.Block) []runningLine {
	if page.HeightPoints <= 0 || block.BottomPoints <= block.TopPoints || len(block.Text) > 4*maxRunningChars ||
		utf8.RuneCountInString(block.Text) > maxRunningChars {
		return nil
	}
	if block.BottomPoints > margin*page.HeightPoints && block.TopPoints < (1-margin)*page.HeightPoints {
		return nil
	}
	text, top := squeezed(block.Text), int(math.Round(block.TopPoints/3))
	lines := []runningLine{{before: text, top: top}}
	places := numbers.FindAllStringIndex(text, maxRunningNumbers+1)
	if len(places) > maxRunningNumbers {
		return lines
	}
	for _, place := range places {
		value, err := strconv.Atoi(text[place[0]:place[1]])
		if err != nil {
			continue // longer than any page number
		}
		line := runningLine{before: text[:place[0]], after: text[place[1]:], numbered: true, offset: value - page.Number, top: top}
		// Covers and contents come before page 1, so that a page's own number is at most its place
		// in the file. "Invoice 1001" and "Invoice 1002" are content.
		if line.offset <= 0 || line.isPageNumber() {
			lines = append(lines, line)
		}
	}
	return lines
}

// isPageNumber is "3", "– 3 –", "Page 3 of 12", "3 / 12".
func (l runningLine) isPageNumber() bool {
	words := strings.FieldsFunc(strings.ToLower(l.before+" "+l.after), func(r rune) bool { return !unicode.IsLetter(r) })
	return l.numbered && !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(pageNumberWords, word) })
}
