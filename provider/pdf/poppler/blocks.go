package poppler

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/provider/pdf"
)

// blocksOf makes the blocks of a page in reading order.
func (o *orderer) blocksOf(page sheet) []pdf.Block {
	var blocks []pdf.Block
	straight, slanted := withoutSlanted(page.spans)
	for _, part := range o.regions(withDropCaps(withoutCopies(straight))) {
		blocks = append(blocks, blocksOfRegion(lines(part))...)
	}
	if len(page.turned) > 0 {
		blocks = append(blocks, o.turnedBlocks(page)...)
	}
	for _, line := range slanted {
		blocks = append(blocks, pdf.Block{Text: line})
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

const (
	// dropCapLines is how many lines of the text a drop cap is as tall as at least.
	dropCapLines = 1.8
	// maxDropCaps of a page are looked for.
	maxDropCaps = 20
	// minAligned cells of two lines, with alignedGap between them in heights of a line, make rows.
	minAligned, alignedGap = 3, 0.6
)

// withDropCaps moves the large letters that texts begin with to the line that they begin, in place,
// and the other lines beside them to the edge of the text.
func withDropCaps(spans []span) []span {
	for i, looked := 0, 0; i < len(spans) && looked < maxDropCaps; i++ {
		large := spans[i]
		if utf8.RuneCountInString(large.text) > 2 || !unicode.IsLetter([]rune(large.text)[0]) {
			continue
		}
		looked++
		var beside []int
		for j, s := range spans {
			isNear := s.left >= large.right-1 && s.left-large.right < large.height()/2
			if isNear && s.top < large.bottom && s.bottom > large.top && large.height() >= dropCapLines*s.height() {
				beside = append(beside, j)
			}
		}
		if len(beside) < 2 {
			continue
		}
		first := spans[slices.MinFunc(beside, func(a, b int) int { return byTop(spans[a], spans[b]) })]
		for _, j := range beside {
			if spans[j].top > first.top {
				spans[j].left = large.left
			}
		}
		spans[i].top, spans[i].bottom, spans[i].right, spans[i].size = first.top, first.bottom, first.left, first.size
	}
	return spans
}

// withAlignedCells takes the pieces of lines for cells that stand above each other, with less room
// between them than cells have otherwise. There are at least three.
func withAlignedCells(all []line) []line {
	wasAligned := false
	for i := range all {
		isAligned := i+1 < len(all) && areAligned(all[i], all[i+1])
		if isAligned || wasAligned {
			all[i].cells = all[i].pieces
		}
		wasAligned = isAligned
	}
	return all
}

func areAligned(a, b line) bool {
	if len(a.pieces) < minAligned || len(a.pieces) != len(b.pieces) || runsLeft(a.pieces) {
		return false
	}
	for i, s := range a.pieces {
		other := b.pieces[i]
		if s.right <= other.left || other.right <= s.left {
			return false
		}
		if i > 0 && max(a.pieces[i-1].right, b.pieces[i-1].right)+alignedGap*s.height() > min(s.left, other.left) {
			return false
		}
	}
	return true
}

// blocksOfRegion puts the lines of one column together.
func blocksOfRegion(all []line) []pdf.Block {
	if len(all) == 0 {
		return nil
	}
	all = withAlignedCells(all)
	r := columnOfLines(all)
	var blocks []pdf.Block
	for i := 0; i < len(all); {
		if end := tableEnd(all, i); end > i {
			blocks = append(blocks, tableBlock(all[i:end]))
			i = end
			continue
		}
		end := i + 1
		for end < len(all) && tableEnd(all, end) == end && r.continues(all[i:end], all[end]) {
			end++
		}
		blocks = append(blocks, textBlock(all[i:end]))
		i = end
	}
	return blocks
}

// textBlock is a paragraph, a heading, or an item of a list.
func textBlock(block []line) pdf.Block {
	texts := make([]string, len(block))
	sizes := map[float64]int{}
	bold := 0
	for i, l := range block {
		texts[i] = l.text
		sizes[l.size] += len(l.text)
		if l.most {
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
