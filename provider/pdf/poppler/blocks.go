package poppler

import (
	"math"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/pdf"
)

// blocksOf makes the blocks of a page in reading order.
func (o *orderer) blocksOf(page sheet) []pdf.Block {
	var blocks []pdf.Block
	for _, part := range o.regions(withoutCopies(page.spans), 0) {
		blocks = append(blocks, blocksOfRegion(lines(part))...)
	}
	if len(page.turned) > 0 {
		turned := make([]string, len(page.turned))
		for i, s := range page.turned {
			turned[i] = s.text
		}
		blocks = append(blocks, pdf.Block{Text: strings.Join(turned, "\n")})
	}
	return blocks
}

// withoutCopies drops pieces that are printed twice at one place.
func withoutCopies(spans []span) []span {
	type place struct {
		text      string
		left, top float64
	}
	seen := make(map[place]bool, len(spans))
	out := make([]span, 0, len(spans))
	for _, s := range spans {
		at := place{s.text, math.Round(s.left / 2), math.Round(s.top / 2)}
		if !seen[at] {
			seen[at] = true
			out = append(out, s)
		}
	}
	return out
}

// blocksOfRegion puts the lines of one column together.
func blocksOfRegion(all []line) []pdf.Block {
	if len(all) == 0 {
		return nil
	}
	left, right := all[0].left, all[0].right
	for _, l := range all {
		left, right = min(left, l.left), max(right, l.right)
	}
	pitch := usualPitch(all, left, right)
	var blocks []pdf.Block
	for i := 0; i < len(all); {
		if end := tableEnd(all, i); end > i {
			blocks = append(blocks, tableBlock(all[i:end]))
			i = end
			continue
		}
		end := i + 1
		for end < len(all) && tableEnd(all, end) == end && continues(all[i:end], all[end], pitch, left, right) {
			end++
		}
		blocks = append(blocks, textBlock(all[i:end]))
		i = end
	}
	return blocks
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

// continues says whether a line goes on with the paragraph above it.
func continues(block []line, next line, pitch, left, right float64) bool {
	last := block[len(block)-1]
	if ratio := next.size / max(last.size, 1); ratio > 1.12 || ratio < 0.88 {
		return false
	}
	step := (next.top - last.top) / max(min(last.height(), next.height()), 1)
	if step > 1.25*pitch || step < 0 {
		return false
	}
	if next.bold != last.bold && (len(block) == 1 || last.right < right-0.1*(right-left)) && last.bold {
		return false // a heading set in bold, and its text
	}
	if next.marked {
		return false
	}
	em := max(next.height(), 1)
	// A first line that is moved in, after a line at the edge; items of lists are the other way round.
	if next.left > last.left+0.8*em && next.left < left+0.5*(right-left) && !block[0].marked && last.left < left+0.5*em {
		return false
	}
	// A last line that ends early, where lines reach the edge otherwise.
	ended := strings.ContainsAny(last.text[len(last.text)-1:], ".!?:") && last.right < right-0.25*(right-left)
	return !ended || len(block) < 2 || block[0].right < right-0.25*(right-left)
}

// textBlock is a paragraph, a heading, or an item of a list.
func textBlock(block []line) pdf.Block {
	texts := make([]string, len(block))
	sizes := map[float64]int{}
	bold := 0
	for i, l := range block {
		texts[i] = l.text
		sizes[l.size] += len(l.text)
		if l.bold {
			bold++
		}
	}
	return placed(pdf.Block{Text: strings.Join(texts, "\n"), LinePoints: most(sizes), Bold: 2*bold > len(block)}, block)
}

func most(counts map[float64]int) float64 {
	best, bestCount := 0.0, -1
	for value, count := range counts {
		if count > bestCount || count == bestCount && value > best {
			best, bestCount = value, count
		}
	}
	return best
}

// placed says where on its page a block stands.
func placed(b pdf.Block, block []line) pdf.Block {
	b.TopPoints, b.BottomPoints = block[0].top, block[0].bottom
	for _, l := range block {
		b.TopPoints, b.BottomPoints = min(b.TopPoints, l.top), max(b.BottomPoints, l.bottom)
	}
	return b
}
