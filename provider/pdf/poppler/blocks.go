package poppler

import (
	"math"
	"strings"

	"parlance.dev/parlance/provider/pdf"
)

// blocksOf makes the blocks of a page in reading order.
func (o *orderer) blocksOf(page sheet) []pdf.Block {
	var blocks []pdf.Block
	for _, part := range o.regions(withoutCopies(page.spans)) {
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
