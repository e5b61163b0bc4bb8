package chunking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"

	"parlance.dev/parlance/knowledge/document"
)

// maxSentenceBytes bounds what the sentence rules look at in one go: they look ahead and back,
// so some input takes quadratic time.
const (
	maxSentenceBytes = 4 << 10
	maxWordlessChars = 200
)

// maxTailWordBytes is the longest word that an overlap begins with whole.
const maxTailWordBytes = 64

// cut makes the atoms of every block; each ends where the next begins.
func (c *chunker) cut() error {
	chars, at := 0, 0
	seek := func(target int) int {
		for i := range c.doc.Text[at:] {
			if chars == target {
				at += i
				return at
			}
			chars++
		}
		at = len(c.doc.Text)
		return at
	}
	c.sums = append(c.sums, 0)
	for i, block := range c.doc.Blocks {
		start := seek(block.CharStart)
		end := seek(block.CharEnd)
		if err := c.divide(i, start, end, ladderOf(block.Kind)); err != nil {
			return err
		}
	}
	for i := range c.atoms[:max(len(c.atoms)-1, 0)] {
		c.atoms[i].end = c.atoms[i+1].start
	}
	return nil
}

// divider gives the ends of the pieces of a text, ascending, the last one its length.
type divider func(text string) []int

// ladderOf is how a kind of block is divided: the first rung always, the next ones only for
// pieces that are too long for a chunk. Below the last come words, and bytes for one endless word.
func ladderOf(kind document.BlockKind) []divider {
	switch kind {
	case document.Heading:
		return []divider{wholeEnd}
	case document.List:
		return []divider{lineEnds, sentenceEnds}
	case document.Code, document.Table:
		return []divider{lineEnds}
	case document.Paragraph:
	}
	return []divider{sentenceEnds, lineEnds}
}

// divide appends the atoms of doc.Text[start:end].
func (c *chunker) divide(block, start, end int, ladder []divider) error {
	limit := c.options.MaxTokens - c.options.Overlap
	from := start
	for _, relative := range ladder[0](c.doc.Text[start:end]) {
		to := start + relative
		piece := c.doc.Text[from:to]
		if len(c.atoms) > 0 && strings.TrimFunc(piece, document.IsSpace) == "" {
			c.atoms[len(c.atoms)-1].end = to // white space belongs to what it follows
			from = to
			continue
		}
		tokens, err := countTokens(piece)
		if err != nil {
			return err
		}
		switch {
		case tokens <= limit:
			c.append(atom{from, to, block}, tokens)
		case len(ladder) > 1:
			err = c.divide(block, from, to, ladder[1:])
		default:
			err = c.divideWords(block, from, to, limit)
		}
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// divideWords groups words into atoms of at most limit tokens.
func (c *chunker) divideWords(block, start, end, limit int) error {
	from, to, total := start, start, 0
	flush := func() {
		if to > from {
			c.append(atom{from, to, block}, total)
		}
		from, total = to, 0
	}
	for _, relative := range wordEnds(c.doc.Text[start:end], limit) {
		word := c.doc.Text[to : start+relative]
		tokens, err := countTokens(word)
		if err != nil {
			return err
		}
		if total+tokens > limit && strings.TrimFunc(word, document.IsSpace) != "" {
			flush()
		}
		total += tokens
		to = start + relative
	}
	flush()
	return nil
}

func (c *chunker) append(a atom, tokens int) {
	c.atoms = append(c.atoms, a)
	c.sums = append(c.sums, c.sums[len(c.sums)-1]+tokens)
}

// tail is the start of the last words of an atom that hold at most room tokens, and their tokens.
func (c *chunker) tail(a atom, room int) (start, tokens int) {
	text := strings.TrimRightFunc(c.doc.Text[a.start:a.end], document.IsSpace)
	ends := wordEnds(text, maxTailWordBytes)
	start = a.end
	total := 0
	for i := len(ends) - 2; i >= 0; i-- {
		n, err := countTokens(text[ends[i]:ends[i+1]])
		if total += n; err != nil || total > room {
			break
		}
		if first := text[ends[i]]; first != ' ' && first != '\n' && first != '\t' {
			start, tokens = a.start+ends[i], total
		}
	}
	return start, tokens
}

func wholeEnd(text string) []int { return []int{len(text)} }

// lineEnds cuts after each newline.
func lineEnds(text string) []int {
	var ends []int
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		ends = append(ends, at)
	}
	return closed(ends, len(text))
}

// sentenceEnds cuts by the sentence rules of Unicode (UAX 29), which would also end a sentence
// at each line of a hard-wrapped paragraph, were newlines not hidden from them.
func sentenceEnds(text string) []int {
	flat := strings.ReplaceAll(text, "\n", " ")
	var ends []int
	for at := 0; at < len(flat); {
		window := flat[at:]
		if end := wordlessAfter(window); end < len(window) {
			window = window[:lastBreak(window[:end])]
		}
		for it := sentences.FromString(window); it.Next(); {
			ends = append(ends, at+it.End())
		}
		at += len(window)
	}
	return closed(ends, len(text))
}

// wordlessAfter is where a window has grown to maxSentenceBytes, or has gone maxWordlessChars
// without a letter.
func wordlessAfter(window string) int {
	wordless := 0
	for i, r := range window {
		if wordless++; unicode.IsLetter(r) {
			wordless = 0
		}
		if i >= maxSentenceBytes || wordless > maxWordlessChars {
			return i
		}
	}
	return len(window)
}

// lastBreak is where a window that is cut off may end: after its last space, else before its
// last character.
func lastBreak(window string) int {
	if i := strings.LastIndexByte(window, ' '); i >= 0 {
		return i + 1
	}
	return len(window) - partialChar(window)
}

// partialChar is the number of bytes of a character cut off at the end of s.
func partialChar(s string) int {
	for n := 1; n < utf8.UTFMax && n < len(s); n++ {
		if last := s[len(s)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRuneInString(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// wordEnds cuts between words; a word of over limit bytes, which may have as many tokens, is
// cut between characters.
func wordEnds(text string, limit int) []int {
	limit = max(limit, 4)
	var ends []int
	for it := words.FromString(text); it.Next(); {
		start, end := it.Start(), it.End()
		for end-start > limit {
			start += limit - partialChar(text[start:start+limit])
			ends = append(ends, start)
		}
		ends = append(ends, end)
	}
	return closed(ends, len(text))
}

// closed makes sure that ends cover the text.
func closed(ends []int, length int) []int {
	if length > 0 && (len(ends) == 0 || ends[len(ends)-1] != length) {
		ends = append(ends, length)
	}
	return ends
}
