package speakable

import "unicode/utf8"

// plain is text without markup that knows where each of its bytes stands in the answer.
type plain struct {
	text []byte
	// at has the offset in the answer of each byte of text.
	at []int
}

// copy appends text that stands in the answer at an offset, as it is.
func (p *plain) copy(text string, at int) {
	p.text = append(p.text, text...)
	for i := range len(text) {
		p.at = append(p.at, at+i)
	}
}

// insert appends text that does not stand in the answer, before what stands at the offset.
func (p *plain) insert(text string, at int) {
	p.text = append(p.text, text...)
	for range len(text) {
		p.at = append(p.at, at)
	}
}

// space appends a space unless there is one, or nothing before it.
func (p *plain) space(at int) {
	if len(p.text) > 0 && p.text[len(p.text)-1] != ' ' {
		p.insert(" ", at)
	}
}

// drop removes bytes from the beginning.
func (p *plain) drop(n int) {
	p.text = p.text[:copy(p.text, p.text[n:])]
	p.at = p.at[:copy(p.at, p.at[n:])]
}

// last is the last character, or utf8.RuneError.
func (p *plain) last() rune {
	r, _ := utf8.DecodeLastRune(p.text)
	return r
}
