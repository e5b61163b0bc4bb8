package document

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/provider/pdf"
)

const (
	// headingRatio is how much larger than the text a heading's letters are; those of pictures are
	// measured, and vary.
	headingRatio, recognizedRatio = 1.12, 1.35
	// maxHeadingChars and maxHeadingLines bound what can be a heading.
	maxHeadingChars, maxHeadingLines = 200, 4
	// maxHeadingLevels is how many sizes of headings are told apart.
	maxHeadingLevels = 5
)

// composePages makes the blocks of a document of what stands on its pages. Errors: *Error TooLarge.
func composePages(pages []pdf.Page, limits Limits) (Document, error) {
	dropRunningLines(pages)
	c := composer{b: builder{limit: limits.MaxTextBytes}, text: measure(pages, false), pictures: measure(pages, true)}
	for _, page := range pages {
		c.b.page = page.Number
		for i, block := range page.Blocks {
			c.block(page, block, i)
		}
	}
	c.flush()
	return c.b.finish()
}

// composer holds the paragraph or list that may go on.
type composer struct {
	b              builder
	text, pictures letters
	// items is the list that is open, or the one paragraph.
	items  []string
	isList bool
	page   int
}

// block adds a block of a page, its number i there.
func (c *composer) block(page pdf.Page, block pdf.Block, i int) {
	sizes := c.text
	if page.Recognized {
		sizes = c.pictures
	}
	switch {
	case block.Table:
		c.flush()
		c.b.add(Table, tableOfPage(block.Text))
	case sizes.level(block) > 0:
		c.flush()
		c.b.heading(sizes.level(block), joinLines(block.Text))
	default:
		c.running(joinLines(block.Text), i == 0 && page.Number > 1)
	}
}

// running adds a paragraph or an item of a list. One that goes on from the page before is joined
// to its beginning there.
func (c *composer) running(text string, first bool) {
	if text == "" {
		return
	}
	mark, isItem := listMark(text)
	if isItem && c.isList && len(c.items) > 0 && c.page == c.b.page {
		c.items = append(c.items, mark)
		return
	}
	if first && len(c.items) > 0 && goesOn(c.items[len(c.items)-1], text) {
		last := &c.items[len(c.items)-1]
		*last = joinLines(*last + "\n" + text)
		return
	}
	c.flush()
	if isItem {
		text = mark
	}
	c.items, c.isList, c.page = []string{text}, isItem, c.b.page
}

// flush adds what is open, on the page where it began.
func (c *composer) flush() {
	if len(c.items) == 0 {
		return
	}
	kind, page := Paragraph, c.b.page
	if c.isList {
		kind = List
	}
	c.b.page = c.page
	c.b.add(kind, strings.Join(c.items, "\n"))
	c.b.page, c.items, c.isList = page, nil, false
}

// goesOn says that a text at the top of a page goes on with the last one before it.
func goesOn(before, text string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first) && (unicode.IsLetter(last) || last == ',' || last == '-' || last == '\u00AD')
}

// letters are the sizes of a document's letters.
type letters struct {
	body  float64
	ratio float64
	// sizes of headings, the largest first; a bold heading of the text's own size is one level below.
	sizes []float64
}

// measure finds the size that most letters have, and those of headings.
func measure(pages []pdf.Page, recognized bool) letters {
	counts := map[float64]int{}
	for _, page := range pages {
		if page.Recognized != recognized {
			continue
		}
		for _, block := range page.Blocks {
			counts[half(block.LinePoints)] += len(block.Text)
		}
	}
	delete(counts, 0)
	l := letters{ratio: headingRatio}
	if recognized {
		l.ratio = recognizedRatio
	}
	most := 0
	for size, count := range counts {
		if count > most || count == most && size < l.body {
			l.body, most = size, count
		}
	}
	for _, page := range pages {
		if page.Recognized != recognized {
			continue
		}
		for _, block := range page.Blocks {
			if l.isLarge(block) && couldHead(block) {
				l.add(half(block.LinePoints))
			}
		}
	}
	slices.SortFunc(l.sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	return l
}

// half rounds a size to half a point.
func half(points float64) float64 { return math.Round(points*2) / 2 }

func (l letters) isLarge(block pdf.Block) bool {
	return l.body > 0 && block.LinePoints >= l.body*l.ratio
}

func (l *letters) add(size float64) {
	if !slices.ContainsFunc(l.sizes, func(s float64) bool { return math.Abs(s-size) < 0.06*s }) {
		l.sizes = append(l.sizes, size)
	}
}

// level of a block that is a heading, from 1; 0: it is none.
func (l letters) level(block pdf.Block) int {
	if !couldHead(block) {
		return 0
	}
	if l.isLarge(block) {
		size := half(block.LinePoints)
		i := slices.IndexFunc(l.sizes, func(s float64) bool { return math.Abs(s-size) < 0.06*s || s < size })
		if i < 0 {
			i = len(l.sizes)
		}
		return min(i+1, maxHeadingLevels)
	}
	if block.Bold && block.LinePoints >= 0.9*l.body && !endsSentence(block.Text) && strings.Count(block.Text, "\n") < 2 {
		return min(len(l.sizes), maxHeadingLevels) + 1
	}
	return 0
}

// couldHead says whether a block is short enough for a heading, and has letters.
func couldHead(block pdf.Block) bool {
	if block.Table || len(block.Text) > 4*maxHeadingChars || strings.Count(block.Text, "\n") >= maxHeadingLines ||
		utf8.RuneCountInString(block.Text) > maxHeadingChars {
		return false
	}
	count := 0
	for _, r := range block.Text {
		if unicode.IsLetter(r) {
			count++
		}
	}
	_, isItem := listMark(block.Text)
	return count >= 2 && !isItem && !strings.Contains(block.Text, leader)
}

func endsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".,;", last)
}

// bullets begin items of lists.
const bullets = "•◦▪■‣●○·➢✓\uF0B7"

// listMark recognises an item of a list by its bullet, and gives it with a dash in its place.
func listMark(text string) (string, bool) {
	first, size := utf8.DecodeRuneInString(text)
	rest := strings.TrimLeftFunc(text[size:], isSpace)
	if strings.ContainsRune(bullets, first) && rest != "" {
		return "- " + rest, true
	}
	if (first == '–' || first == '-' || first == '*') && len(rest) < len(text)-size && rest != "" {
		return "- " + rest, true
	}
	return text, false
}

// tableOfPage renders a table as the other formats have theirs. The first row is a header when it
// has words only and rows below it have numbers.
func tableOfPage(text string) string {
	var g grid
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		var cells []cell
		for text := range strings.SplitSeq(row, "\t") {
			cells = append(cells, cell{text: text})
		}
		g.row(cells, i == 0 && len(rows) > 2 && isHeader(row, rows[1:]))
	}
	return g.String()
}

// isHeader says whether a row names columns: all are named, without numbers, above rows with numbers.
func isHeader(row string, below []string) bool {
	if strings.ContainsFunc(row, unicode.IsDigit) {
		return false
	}
	for name := range strings.SplitSeq(row, "\t") {
		if strings.TrimSpace(name) == "" {
			return false
		}
	}
	numbers := 0
	for _, one := range below {
		if strings.ContainsFunc(one, unicode.IsDigit) {
			numbers++
		}
	}
	return 2*numbers >= len(below)
}
