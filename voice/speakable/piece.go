package speakable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a part of an answer that is synthesized at once: a clause or some sentences.
type Piece struct {
	// Text is what to synthesize.
	Text string
	// Start and End are the range of the answer, in bytes, that Text speaks. The ranges of the pieces
	// of an answer follow each other without overlapping. Between them is what is not spoken: spaces,
	// markup, code, emoji.
	Start, End int

	words []word
}

// word is a word of Piece.Text, or several of them that speak one thing, such as a date.
type word struct {
	// textEnd is where the word ends in Piece.Text, answerEnd where what it speaks ends in the answer.
	textEnd, answerEnd int
}

// HeardShare returns the end of the last whole word that was heard when share (0 to 1) of the
// piece's sound was played, as an offset in the answer. It is Start if no word was heard whole. The
// time that a word takes is estimated from its characters: use HeardText when the synthesizer
// reports the times of its words.
func (p Piece) HeardShare(share float64) int {
	total := 0.0
	for _, r := range p.Text {
		total += weight(r)
	}
	left := share*total + 1e-9 // the sum of many shares may be a little short of the whole
	for i, r := range p.Text {
		left -= weight(r)
		if left < 0 {
			return p.heard(i)
		}
	}
	return p.heard(len(p.Text))
}

// weight is how long a character takes to say, in letters. A digit is a word ("seven"), there are
// pauses at punctuation, and a space takes no time. Source: the durations of 120 random texts each
// spoken by espeak-ng and flite, fitted by least squares: digits 5.2 and 4.7, commas 3.4 and 3.2,
// ends of sentences 1.2 and 1.6 within a text and 2 to 4.5 at its end.
func weight(r rune) float64 {
	switch {
	case r == ' ' || r == '\u00a0':
		return 0
	case unicode.IsDigit(r):
		return 5
	case strings.ContainsRune(".,!?:;", r):
		return 3
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return 3 // a syllable
	}
	return 1
}

// HeardText returns the end of the last whole word of which the heard part of Text is known, as an
// offset in the answer. heard is what the synthesizer reports as spoken so far: its words or
// characters, one after the other, with or without punctuation and spaces. Only letters and digits
// are compared, by their number, because synthesizers divide a text into words in their own ways.
// The report must be about the text as it was sent, and not about the synthesizer's normalized
// form.
func (p Piece) HeardText(heard string) int {
	count := 0
	for _, r := range heard {
		if isWordRune(r) {
			count++
		}
	}
	for i, r := range p.Text {
		if !isWordRune(r) {
			continue
		}
		if count == 0 {
			return p.heard(i)
		}
		count--
	}
	return p.heard(len(p.Text))
}

// heard is the end, in the answer, of the last word that ends at or before an offset of Text.
func (p Piece) heard(offset int) int {
	if offset >= len(p.Text) {
		return p.End
	}
	end := p.Start
	for _, w := range p.words {
		if w.textEnd > offset {
			break
		}
		end = w.answerEnd
	}
	return end
}

// isWordRune reports whether a character belongs to a word.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && !isEmojiMark(r)
}

// isEmojiMark reports whether a character makes an emoji of the one before it.
func isEmojiMark(r rune) bool { return r == 0x20E3 || r >= 0xFE00 && r <= 0xFE0F }
