package speakable

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// defaultMin is the default of Settings.MinChars.
	defaultMin = 25
	// defaultMax is the default of Settings.MaxChars.
	defaultMax = 300
)

// Settings say how an answer is spoken.
type Settings struct {
	// Language is the answer's language as a BCP 47 tag ("en-US", "de"). The region decides how dates
	// are read. Of a language other than en, de, fr, es, it, pt and nl, markup and emoji are removed
	// and nothing is put into words.
	Language string
	// MinChars is the shortest piece, in characters of the text without markup: 25 when it is 0. The
	// end of a paragraph, a heading or an item of a list ends a piece of any length.
	MinChars int
	// MaxChars is the longest piece, in the same characters: 300 when it is 0. The text to synthesize
	// may be longer, because "3 km" becomes "3 kilometers".
	MaxChars int
}

// Cutter makes pieces to synthesize of an answer that arrives in parts. The pieces are the same
// however the answer is divided. It is for one answer and one goroutine.
type Cutter struct {
	settings Settings
	language *language
	markdown markdown
	// spoken is whether a piece was made: the first one may be a clause.
	spoken bool
}

// NewCutter makes the Cutter of one answer.
func NewCutter(settings Settings) *Cutter {
	if settings.MinChars <= 0 {
		settings.MinChars = defaultMin
	}
	if settings.MaxChars <= 0 {
		settings.MaxChars = defaultMax
	}
	settings.MaxChars = max(settings.MaxChars, settings.MinChars)
	l := languageOf(settings.Language)
	return &Cutter{settings: settings, language: l, markdown: markdown{language: l}}
}

// Write takes the next part of the answer, which is valid UTF-8, and returns the pieces that are
// complete. The first piece is the first clause of at least MinChars, so that speech begins early;
// the others are whole sentences.
func (c *Cutter) Write(delta string) []Piece {
	c.markdown.raw += delta
	return c.pieces(false)
}

// Flush says that the answer has ended, or that the model will not go on before it was heard (it
// calls a tool), and returns the rest. What is written after it begins a new paragraph.
func (c *Cutter) Flush() []Piece { return c.pieces(true) }

func (c *Cutter) pieces(final bool) []Piece {
	var pieces []Piece
	for {
		more := c.markdown.step(final)
		for {
			piece, ok := c.next()
			if !ok {
				break
			}
			if piece.Text != "" {
				c.spoken = true
				pieces = append(pieces, piece)
			}
		}
		if !more {
			return pieces
		}
	}
}

// next takes a piece off the beginning of the block that is being read.
func (c *Cutter) next() (Piece, bool) {
	m := &c.markdown
	text := string(m.plain.text)
	cut := c.boundary(text, m.closed)
	if cut == 0 {
		if m.closed { // all of it was taken
			m.closed, m.plain = false, plain{}
		}
		return Piece{}, false
	}
	at := append(m.plain.at[:cut:cut], m.textEnd)
	if cut < len(text) {
		at[cut] = m.plain.at[cut]
	}
	piece := c.language.speak(text[:cut], at, m.closed && cut == len(text))
	m.plain.drop(cut)
	return piece, true
}

// boundary is where to cut the text of a block: 0 for not yet. A boundary that was found in the
// beginning of a text is also found in the whole, so that pieces do not depend on deltas.
func (c *Cutter) boundary(text string, closed bool) int {
	if strings.TrimSpace(text) == "" {
		return 0
	}
	limit := runeOffset(text, c.settings.MaxChars)
	window := text[:runeOffset(text, c.settings.MaxChars+maxLookahead)]
	complete := closed || len(window) < len(text)
	least := runeOffset(text, c.settings.MinChars)
	sentence := c.language.sentenceEnd(window, least, limit, complete)
	if !c.spoken {
		if clause := firstClause(window, least, cmp.Or(sentence, limit), complete); clause > 0 {
			return clause
		}
	}
	switch {
	case sentence > 0:
		return sentence
	case closed && limit == len(text):
		return limit
	case complete:
		return forcedCut(text, least, limit)
	}
	return 0
}

// Speak puts a whole text into the words to synthesize. Language is as in Settings.
func Speak(text, language string) string {
	c := NewCutter(Settings{Language: language})
	var spoken []string
	for _, piece := range append(c.Write(text), c.Flush()...) {
		spoken = append(spoken, piece.Text)
	}
	return strings.Join(spoken, " ")
}

// runeOffset is the offset of the nth character of a text, or its length.
func runeOffset(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// forcedCut finds where to cut a text that goes on behind limit without the end of a sentence: at
// the last clause, at the last space that is not in a number, at the last space, or anywhere.
func forcedCut(text string, least, limit int) int {
	if cut := lastClause(text, least, limit); cut > 0 {
		return cut
	}
	anySpace := 0
	for i := limit; i > 0; i-- {
		if text[i-1] != ' ' {
			continue
		}
		before, after := neighbours(text, i)
		if !unicode.IsDigit(before) || !unicode.IsDigit(after) {
			return i
		}
		anySpace = max(anySpace, i)
	}
	if anySpace > 0 {
		return anySpace
	}
	for i := limit; i > 0; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsMark(r) || size == 0 {
			return i
		}
		_, size = utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	return limit
}

// neighbours are the last character before the spaces that end at i, and the first after them.
func neighbours(text string, i int) (before, after rune) {
	before, _ = utf8.DecodeLastRuneInString(strings.TrimRight(text[:i], " "))
	after, _ = utf8.DecodeRuneInString(strings.TrimLeft(text[i:], " "))
	return before, after
}
