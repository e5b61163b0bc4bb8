package nogo

import (
	"slices"
	"unicode/utf8"
)

// maxGap is how many characters may stand between two letters of a phrase.
const maxGap = 32

// phrase is one phrase of a zone, its letters only.
type phrase struct {
	letters []letter
	zone    int
}

// phraseSet is the phrases of all zones.
type phraseSet struct {
	all []phrase
	// first are the phrases by what their first letter is read as.
	first map[rune][]int
}

func newPhraseSet() *phraseSet { return &phraseSet{first: map[rune][]int{}} }

// add adds a phrase; false: it has no letter.
func (s *phraseSet) add(text string, zone int) bool {
	var letters []letter
	for _, r := range text {
		_, some := fold(r)
		letters = append(letters, some...)
	}
	if len(letters) == 0 {
		return false
	}
	for _, r := range keys(letters[0]) {
		s.first[r] = append(s.first[r], len(s.all))
	}
	s.all = append(s.all, phrase{letters, zone})
	return true
}

// keys are what a letter may be looked up as.
func keys(l letter) []rune {
	if l.looks == 0 || l.looks == l.plain {
		return []rune{l.plain}
	}
	return []rune{l.plain, l.looks}
}

// find tells of the phrases in a whole text.
func (s *phraseSet) find(text string, found func(Match)) {
	scan := phraseScan{set: s, boundary: true}
	tell := func(c candidate) {
		found(Match{Zone: s.all[c.phrase].zone, By: ByPhrase, Matched: text[c.start:c.end]})
	}
	for at, r := range text {
		scan.next(at, r, tell)
	}
	scan.finish(tell)
}

// candidate is a phrase that may have begun in the text.
type candidate struct {
	phrase, start, end int
	// read is how many of its letters have been seen; gap how much has stood since.
	read, gap int
}

// phraseScan reads a text character by character.
type phraseScan struct {
	set *phraseSet
	// open are the phrases that may have begun, the earliest first.
	open []candidate
	// boundary says that a word may begin here.
	boundary bool
}

// next reads the character at a place. found is told of a phrase once it is certain, which is when
// its last word has ended.
func (s *phraseScan) next(at int, r rune, found func(candidate)) {
	is, letters := fold(r)
	if is == unseen {
		return
	}
	if is != joined {
		s.finish(found)
		s.boundary = true
	}
	if is == between {
		s.widen()
		return
	}
	end := at + utf8.RuneLen(r)
	kept := s.open[:0]
	for _, c := range s.open {
		if s.read(&c, letters, end) {
			kept = append(kept, c)
		}
	}
	s.open = kept
	if s.boundary {
		s.begin(at, end, letters)
	}
	s.boundary = is == single
	if is == single {
		s.finish(found)
	}
}

// read has a candidate read letters; false: it is none.
func (s *phraseScan) read(c *candidate, letters []letter, end int) bool {
	wanted := s.set.all[c.phrase].letters[c.read:]
	if len(wanted) < len(letters) {
		return false
	}
	for i, l := range letters {
		if !l.is(wanted[i]) {
			return false
		}
	}
	c.read, c.end, c.gap = c.read+len(letters), end, 0
	return true
}

// begin opens the phrases that may begin with letters.
func (s *phraseScan) begin(at, end int, letters []letter) {
	begun := keys(letters[0])
	for _, r := range letters[0].others {
		begun = append(begun, r)
	}
	from := len(s.open)
	for _, key := range begun {
		for _, number := range s.set.first[key] {
			c := candidate{phrase: number, start: at}
			isOpen := func(c candidate) bool { return c.phrase == number }
			if s.read(&c, letters, end) && !slices.ContainsFunc(s.open[from:], isOpen) {
				s.open = append(s.open, c)
			}
		}
	}
}

// finish tells of the phrases that are whole, at the end of a word.
func (s *phraseScan) finish(found func(candidate)) {
	kept := s.open[:0]
	for _, c := range s.open {
		if c.read == len(s.set.all[c.phrase].letters) {
			found(c)
			continue
		}
		kept = append(kept, c)
	}
	s.open = kept
}

// widen counts a character between letters.
func (s *phraseScan) widen() {
	kept := s.open[:0]
	for _, c := range s.open {
		if c.gap++; c.gap <= maxGap {
			kept = append(kept, c)
		}
	}
	s.open = kept
}

// earliest is where the first phrase that may have begun starts; otherwise it is end.
func (s *phraseScan) earliest(end int) int {
	if len(s.open) == 0 {
		return end
	}
	return s.open[0].start
}

// shift moves the places of candidates when text before them was dropped.
func (s *phraseScan) shift(by int) {
	for i := range s.open {
		s.open[i].start -= by
		s.open[i].end -= by
	}
}
