package poppler

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// largerLetters are those of a heading, in sizes of the text's.
	largerLetters = 1.12
	// sameSteps is how much more than the usual room may be between the lines of a paragraph, and
	// headingStep the distance between the lines of a heading, in heights of a line.
	sameSteps, headingStep = 1.25, 1.8
)

// column is the measure of the lines that a paragraph is looked for in.
type column struct {
	left, right float64
	// pitch is the usual distance of lines in heights of a line, and body the size of most letters.
	pitch, body float64
}

func columnOfLines(all []line) column {
	c := column{left: all[0].left, right: all[0].right}
	sizes := map[float64]int{}
	for _, l := range all {
		c.left, c.right = min(c.left, l.left), max(c.right, l.right)
		sizes[l.size] += len(l.text)
	}
	c.pitch, c.body = usualPitch(all, c.left, c.right), most(sizes)
	return c
}

// usualPitch is the median distance from a full line to the next, in heights of the line, where
// the next begins below it: a line that ends early may end a paragraph.
func usualPitch(all []line, left, right float64) float64 {
	var steps []float64
	for i := 1; i < len(all); i++ {
		above, next := all[i-1], all[i]
		step := (next.top - above.top) / max(above.height(), 1)
		if above.right >= right-0.15*(right-left) && math.Abs(above.left-next.left) < above.height() && step > 0.5 && step < 3 {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		return 1.3
	}
	slices.Sort(steps)
	return max(steps[len(steps)/2], 1)
}

// continues says whether a line goes on with the paragraph or heading above it.
func (c column) continues(block []line, next line) bool {
	last := block[len(block)-1]
	step := (next.top - last.top) / max(min(last.height(), next.height()), 1)
	if ratio := next.size / max(last.size, 1); ratio > largerLetters || ratio < 1/largerLetters || step < 0 || next.marked {
		return false
	}
	// A heading set in bold ends where its line does; bold words within a text do not.
	if last.all && !next.first || next.all && !last.weight.last {
		return false
	}
	if c.isHeading(last) && c.isHeading(next) {
		return step <= headingStep && c.isWrapped(last, next) || step <= sameSteps*c.pitch && !isNumbered(next.text)
	}
	return step <= sameSteps*c.pitch && !c.ends(block, next)
}

func (c column) isHeading(l line) bool { return l.all || l.size >= largerLetters*c.body }

// isWrapped says whether a heading goes on in the next line, whose first word had no room in this
// one, or begins with a small letter.
func (c column) isWrapped(last, next line) bool {
	word, _, _ := strings.Cut(next.text, " ")
	first, _ := utf8.DecodeRuneInString(word)
	room := last.left - c.left + c.right - last.right // centred lines have some on both sides
	return unicode.IsLower(first) || room < (next.right-next.left)*float64(len(word))/float64(len(next.text))
}

// isNumbered is a heading that begins with a number of several parts, "3.2".
func isNumbered(text string) bool {
	number, _, _ := strings.Cut(text, " ")
	return strings.Contains(number, ".") && strings.Trim(number, "0123456789.") == ""
}

// ends says whether a paragraph ends above a line that stands close under it.
func (c column) ends(block []line, next line) bool {
	last, width, em := block[len(block)-1], c.right-c.left, max(next.height(), 1)
	// A first line that is moved in, after a line at the edge; items of lists are the other way round.
	if isCentred := math.Abs(next.left-c.left+next.right-c.right) < em; next.left > last.left+0.8*em && !isCentred &&
		next.left < c.left+0.5*width && !block[0].marked && last.left < c.left+0.5*em {
		return true
	}
	// A last line that ends early, where lines reach the edge otherwise.
	early := c.right - 0.25*width
	return strings.ContainsAny(last.text[len(last.text)-1:], ".!?:") && last.right < early && len(block) > 1 && block[0].right >= early
}
