package document

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/provider/pdf"
)

const (
	// margin is the part of a page's height, from above and from below, that running lines are in.
	margin = 0.12
	// minRunningPages is how many pages a line stands on to be one.
	minRunningPages = 3
	// maxRunningChars of a running line.
	maxRunningChars = 160
)

// runningLine is a line as it returns on other pages: its digits do not count, nor do a few points
// of height.
type runningLine struct {
	text string
	top  int
}

// dropRunningLines takes what stands at the same place of many pages out of all but the first of
// them: the title in the margin, the name of a chapter. Numbers of pages go everywhere.
func dropRunningLines(pages []pdf.Page) {
	seen := map[runningLine]int{}
	for _, page := range pages {
		for _, block := range page.Blocks {
			if line, ok := runningOf(page, block); ok {
				seen[line]++
			}
		}
	}
	kept := map[runningLine]bool{}
	for i, page := range pages {
		pages[i].Blocks = slices.DeleteFunc(page.Blocks, func(block pdf.Block) bool {
			line, ok := runningOf(page, block)
			if !ok || seen[line] < minRunningPages {
				return false
			}
			if isPageNumber(line.text) || kept[line] {
				return true
			}
			kept[line] = true
			return false
		})
	}
}

// runningOf gives what a block would be as a running line; those of pictures have no place.
func runningOf(page pdf.Page, block pdf.Block) (runningLine, bool) {
	if page.HeightPoints <= 0 || block.BottomPoints <= block.TopPoints || len(block.Text) > 4*maxRunningChars ||
		utf8.RuneCountInString(block.Text) > maxRunningChars {
		return runningLine{}, false
	}
	if block.BottomPoints > margin*page.HeightPoints && block.TopPoints < (1-margin)*page.HeightPoints {
		return runningLine{}, false
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, squeezed(block.Text))
	for strings.Contains(text, "00") {
		text = strings.ReplaceAll(text, "00", "0")
	}
	return runningLine{text: text, top: int(math.Round(block.TopPoints / 3))}, true
}

// isPageNumber is "0", "– 0 –", "Page 0 of 0", "0 / 0", and small Roman ones.
func isPageNumber(text string) bool {
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters == 0 || strings.Contains(text, "0") && letters <= 10 && len(strings.Fields(text)) <= 4 ||
		strings.Trim(strings.ToLower(text), "ivxlc ") == ""
}
