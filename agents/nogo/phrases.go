package nogo

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxGap is how many characters may stand between two letters of a phrase.
const maxGap = 32

// maxOpen bounds the phrases that may have begun when a sign is read for a letter, which makes two
// of one.
const maxOpen = 1024

// leastSigned is how many letters a phrase has at least in which signs are read for letters.
const leastSigned = 3

// Marks at the edge of a phrase that are not part of it: what a sentence or a quotation has there.
const (
	marksBefore = `'"‘“„«([{¿¡`
	marksBehind = `'"’”“»)]}.,;:!?…。！？、`
)

// phrase is one phrase of a zone.
type phrase struct {
	// letters are those of its words.
	letters []letter
	// before and behind are the marks that stand directly before its first letter and behind its last
	// one, as in "C++" and ".net".
	before, behind string
	zone           int
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
	var before, behind []rune // what has stood since the last letter
	for _, r := range text {
		is, some := fold(r)
		switch {
		case len(some) > 0:
			if len(letters) == 0 {
				before = behind
			}
			letters, behind = append(letters, some...), nil
		case unicode.IsSpace(r) && len(letters) == 0:
			behind = nil
		case is == between:
			behind = append(behind, mark(r))
		}
	}
	if len(letters) == 0 {
		return false
	}
	for _, r := range keys(letters[0]) {
		s.first[r] = append(s.first[r], len(s.all))
	}
	end, _, _ := strings.Cut(string(behind), " ")
	s.all = append(s.all, phrase{
		letters: letters, zone: zone,
		before: strings.TrimLeft(string(before), marksBefore), behind: strings.TrimRight(end, marksBehind),
	})
	return true
}

// mark is a character that is no letter, as marks are compared: all white space is a space.
func mark(r rune) rune {
	if unicode.IsSpace(r) {
		return ' '
	}
	if r >= utf8.RuneSelf {
		r, _ = utf8.DecodeRuneInString(norm.NFKD.String(string(r)))
	}
	return r
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
	// read is how many of its letters have been seen, marks how many of the marks behind them; gap how
	// much has stood since.
	read, marks, gap int
	// sign says that its last letter was a sign. Its next one must follow at once: "$hip" is "ship",
	// "10 $ hip" is not.
	sign bool
}

// phraseScan reads a text character by character.
type phraseScan struct {
	set *phraseSet
	// open are the phrases that may have begun, the earliest first.
	open []candidate
	// boundary says that a word may begin here.
	boundary bool
	// marks are those that have stood since the last letter or space.
	marks []rune
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
	}
	if is == between {
		s.between(at, r, found)
		return
	}
	s.boundary = s.boundary || is == single
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
	s.boundary, s.marks = is == single, s.marks[:0]
	if is == single {
		s.finish(found)
	}
}

// between reads a character that is no letter, and one that is a sign as both.
func (s *phraseScan) between(at int, r rune, found func(candidate)) {
	end := at + utf8.RuneLen(r)
	var signed []candidate
	if written, is := signs[r]; is && len(s.open) < maxOpen {
		signed = s.signed(at, end, letter{plain: written, looks: written})
	}
	s.widen(mark(r), end, found)
	if s.boundary = true; unicode.IsSpace(r) {
		s.marks = s.marks[:0]
	} else {
		s.marks = append(s.marks, mark(r))
	}
	if len(signed) > 0 {
		s.open = append(s.open, signed...)
		slices.SortStableFunc(s.open, func(a, b candidate) int {
			return cmp.Or(a.start-b.start, a.phrase-b.phrase, a.read-b.read, a.marks-b.marks, a.gap-b.gap)
		})
		s.open = slices.CompactFunc(s.open, func(a, b candidate) bool { a.end = b.end; return a == b })
	}
}

// signed are the phrases that go on or begin with a sign that is written for a letter.
func (s *phraseScan) signed(at, end int, l letter) (all []candidate) {
	for _, c := range s.open {
		if c.gap == 0 && s.long(c.phrase) && s.read(&c, []letter{l}, end) {
			c.sign = true
			all = append(all, c)
		}
	}
	if !s.boundary {
		return all
	}
	for _, number := range s.set.first[l.plain] {
		c := candidate{phrase: number, start: at}
		if s.long(number) && s.beginsHere(number) && s.read(&c, []letter{l}, end) {
			c.sign = true
			all = append(all, c)
		}
	}
	return all
}

// long reports whether signs are read for letters of a phrase: "@" is not "a", nor "$$" "ss".
func (s *phraseScan) long(number int) bool { return len(s.set.all[number].letters) >= leastSigned }

// beginsHere reports whether the marks of a phrase stand before this place.
func (s *phraseScan) beginsHere(number int) bool {
	return strings.HasSuffix(string(s.marks), s.set.all[number].before)
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
	c.read, c.end, c.gap, c.sign = c.read+len(letters), end, 0, false
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
			if s.beginsHere(number) && s.read(&c, letters, end) && !slices.ContainsFunc(s.open[from:], isOpen) {
				s.open = append(s.open, c)
			}
		}
	}
}

// finish tells of the phrases that are whole, at the end of a word. Those with marks behind them
// wait for the marks.
func (s *phraseScan) finish(found func(candidate)) {
	kept := s.open[:0]
	for _, c := range s.open {
		if c.read == len(s.set.all[c.phrase].letters) && s.set.all[c.phrase].behind == "" {
			found(c)
			continue
		}
		kept = append(kept, c)
	}
	s.open = kept
}

// widen counts a character between letters, and tells of the phrases whose last mark it is.
func (s *phraseScan) widen(mark rune, end int, found func(candidate)) {
	kept := s.open[:0]
	for _, c := range s.open {
		phrase := s.set.all[c.phrase]
		if c.read < len(phrase.letters) {
			if c.gap++; c.gap <= maxGap && !c.sign {
				kept = append(kept, c)
			}
			continue
		}
		next, size := utf8.DecodeRuneInString(phrase.behind[c.marks:])
		if next != mark {
			continue
		}
		if c.marks, c.end = c.marks+size, end; c.marks == len(phrase.behind) {
			found(c)
			continue
		}
		kept = append(kept, c)
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
