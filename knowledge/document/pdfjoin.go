package document

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// maxJoinedBytes is where a paragraph ends at the page's end at last: joining takes copying.
	maxJoinedBytes = 32 << 10
	// smallRatio is how much smaller than the text the letters of footnotes are.
	smallRatio = 0.93
	// maxAsides are looked over for the paragraph that goes on.
	maxAsides = 8
)

// paragraphPart is a paragraph among the blocks that are out, and the last part of it.
type paragraphPart struct {
	index int
	last  placedBlock
}

// joined joins paragraphs that go on in the next column or on the next page. What stands between
// their parts, such as running heads and footnotes, comes after them.
func (l letters) joined(blocks []placedBlock) []placedBlock {
	out := make([]placedBlock, 0, len(blocks))
	var open []paragraphPart // the last paragraph, and what stands aside below it
	for _, block := range blocks {
		isPlain := !block.isRunning && !block.Table && l.level(block) == 0
		if isPlain {
			if i := lastIndexFunc(open, func(part paragraphPart) bool {
				return part.last.isLeft(block) && goesOn(part.last.Text, block.Text) && len(out[part.index].Text) < maxJoinedBytes
			}); i >= 0 {
				out[open[i].index].Text += "\n" + block.Text
				open = append(open[:0], paragraphPart{open[i].index, block})
				continue
			}
		}
		out = append(out, block)
		switch {
		case block.isRunning:
		case !isPlain:
			open = open[:0]
		case !l.isAside(block) || len(open) == maxAsides:
			open = append(open[:0], paragraphPart{len(out) - 1, block})
		default:
			open = append(open, paragraphPart{len(out) - 1, block})
		}
	}
	return out
}

func lastIndexFunc(parts []paragraphPart, isIt func(paragraphPart) bool) int {
	for i, part := range slices.Backward(parts) {
		if isIt(part) {
			return i
		}
	}
	return -1
}

// isAside is what may stand between the parts of a paragraph: small letters, and a line in the
// margin.
func (l letters) isAside(block placedBlock) bool {
	size := l.size(block)
	return size > 0 && size < smallRatio || len(runningLines(*block.page, block.Block)) > 0
}

// isLeft says whether the text goes on elsewhere after a block: on another page or, higher up, in
// another column.
func (b placedBlock) isLeft(next placedBlock) bool {
	return b.page != next.page || next.BottomPoints > 0 && next.BottomPoints < b.TopPoints
}

// goesOn says that a text goes on with another: a sentence is not over, or a word.
func goesOn(before, text string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first) && (unicode.IsLetter(last) || last == ',' || last == '-' || last == '\u00AD')
}
