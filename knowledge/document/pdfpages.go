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
	headingRatio, recognizedRatio = 1.12, 1.2
	// maxHeadingChars and maxHeadingLines bound what can be a heading.
	maxHeadingChars, maxHeadingLines = 200, 4
	// maxHeadingLevels is how many sizes of headings are told apart.
	maxHeadingLevels = 5
)

// placedBlock is a block on its page.
type placedBlock struct {
	pdf.Block
	page *pdf.Page
	// isRunning lines stand in the margins of several pages.
	isRunning bool
}

// composePages makes the blocks of a document of what stands on its pages. Errors: *Error TooLarge.
func composePages(pages []pdf.Page, limits Limits) (Document, error) {
	blocks := withoutRunningLines(pages)
	c := composer{b: builder{limit: limits.MaxTextBytes}, letters: measure(blocks)}
	for _, block := range c.letters.joined(blocks) {
		c.b.page = block.page.Number
		c.block(block)
	}
	c.flush()
	return c.b.finish()
}

// composer holds the paragraph or list that may go on.
type composer struct {
	b       builder
	letters letters
	// items is the list that is open, or the one paragraph.
	items  []string
	isList bool
	page   int
}

func (c *composer) block(block placedBlock) {
	level := c.letters.level(block)
	switch {
	case block.Table:
		c.flush()
		c.b.add(Table, tableOfPage(block.Text))
	case level > 0:
		c.flush()
		c.b.heading(level, joinLines(block.Text))
	default:
		c.running(joinLines(block.Text))
	}
}

// running adds a paragraph or an item of a list.
func (c *composer) running(text string) {
	if text == "" {
		return
	}
	mark, isItem := listMark(text)
	isItem = isItem || isNumbered(text)
	if isItem && c.isList && len(c.items) > 0 && c.page == c.b.page {
		c.items = append(c.items, mark)
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

// letters are the sizes of a document's letters.
type letters struct {
	// body is the size that most letters have on pages of text, and on pictures, where it is
	// measured.
	body, pictureBody float64
	// mostlyBold documents have no bold headings.
	mostlyBold bool
	// sizes of headings in parts of the text's, the largest first; a bold heading of the text's own
	// size is one level below.
	sizes []float64
}

// measure finds the size that most letters have, and those of headings.
func measure(blocks []placedBlock) letters {
	var l letters
	counts := [2]map[float64]int{{}, {}}
	bold, all := 0, 0
	for _, block := range blocks {
		of := counts[0]
		if block.page.Recognized {
			of = counts[1]
		}
		of[half(block.LinePoints)] += len(block.Text)
		if all += len(block.Text); block.Bold {
			bold += len(block.Text)
		}
	}
	l.body, l.pictureBody = mostFrequent(counts[0]), mostFrequent(counts[1])
	l.mostlyBold = 3*bold > all
	for _, block := range blocks {
		if l.isLarge(block) && couldHead(block) {
			l.add(l.size(block))
		}
	}
	slices.SortFunc(l.sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	return l
}

// mostFrequent is the size with the highest count, the smallest of several; unknown ones aside.
func mostFrequent(counts map[float64]int) float64 {
	best, most := 0.0, 0
	for size, count := range counts {
		if size > 0 && (count > most || count == most && size < best) {
			best, most = size, count
		}
	}
	return best
}

// half rounds a size to half a point.
func half(points float64) float64 { return math.Round(points*2) / 2 }

// size of a block's letters in parts of the text's; 0: unknown.
func (l letters) size(block placedBlock) float64 {
	body := l.body
	if block.page.Recognized {
		body = l.pictureBody
	}
	if body <= 0 {
		return 0
	}
	return block.LinePoints / body
}

func (l letters) isLarge(block placedBlock) bool {
	if block.page.Recognized {
		return l.size(block) >= recognizedRatio && strings.Count(block.Text, "\n") < 2
	}
	return l.size(block) >= headingRatio
}

func (l *letters) add(size float64) {
	if !slices.ContainsFunc(l.sizes, func(s float64) bool { return isAlike(s, size) }) {
		l.sizes = append(l.sizes, size)
	}
}

// isAlike takes two sizes for one: they are rounded or measured.
func isAlike(a, b float64) bool { return math.Abs(a-b) < 0.08*a }

// level of a block that is a heading, from 1; 0: it is none.
func (l letters) level(block placedBlock) int {
	if !couldHead(block) {
		return 0
	}
	size := l.size(block)
	if l.isLarge(block) {
		i := slices.IndexFunc(l.sizes, func(s float64) bool { return isAlike(s, size) || s < size })
		if i < 0 {
			i = len(l.sizes)
		}
		return min(i+1, maxHeadingLevels)
	}
	if block.Bold && !l.mostlyBold && size >= 0.9 && !endsSentence(block.Text) {
		return min(len(l.sizes), maxHeadingLevels) + 1
	}
	return 0
}

// couldHead says whether a block is short enough for a heading, and has letters.
func couldHead(block placedBlock) bool {
	if block.Table || block.isRunning || len(block.Text) > 4*maxHeadingChars || strings.Count(block.Text, "\n") >= maxHeadingLines ||
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
	rest := strings.TrimLeftFunc(text[size:], IsSpace)
	if strings.ContainsRune(bullets, first) && rest != "" {
		return "- " + rest, true
	}
	if (first == '–' || first == '-' || first == '*') && len(rest) < len(text)-size && rest != "" {
		return "- " + rest, true
	}
	return text, false
}

// isNumbered recognises "1. ", "12) " and "(3) ".
func isNumbered(text string) bool {
	mark, rest, ok := strings.Cut(text, " ")
	digits := strings.TrimRight(strings.TrimPrefix(mark, "("), ".)")
	return ok && rest != "" && len(digits) < len(mark) && len(digits) > 0 && len(digits) <= 3 && strings.Trim(digits, "0123456789") == ""
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

// isHeader says whether a row names columns: all are named, without numbers, above rows with
// numbers.
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
