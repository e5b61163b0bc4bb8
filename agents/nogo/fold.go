package nogo

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mtibben/confusables"
	"golang.org/x/text/unicode/norm"
)

// letter is a letter or digit as phrases are compared.
type letter struct {
	// plain is in lower case and without accents.
	plain rune
	// looks is the letter that it looks like; 0: many, or none.
	looks rune
	// others are letters that it is written for: "0" for "o", and a capital for the one that it looks
	// like, which its small letter need not.
	others string
}

// is reports whether a letter of a text can be read as one of a phrase.
func (l letter) is(phrase letter) bool {
	if l.plain == phrase.plain || strings.ContainsRune(l.others, phrase.plain) {
		return true
	}
	return l.looks != 0 && l.looks == phrase.looks && (l.plain >= utf8.RuneSelf || phrase.plain >= utf8.RuneSelf)
}

// written are the letters that digits, and a capital that looks like another letter, stand for.
var written = map[rune]string{'0': "o", '1': "il", '3': "e", '4': "a", '5': "s", '7': "t", '8': "b", 'I': "l"}

// signs are written for letters, and also stand between words.
var signs = map[rune]rune{'@': 'a', '$': 's'}

// twice are letters that are written for two.
var twice = map[rune]string{'ß': "ss", 'ẞ': "ss"}

// boxed is the letter in white on a dark circle (U+1F150…) or square (U+1F170…), of which Unicode
// does not say so; other characters stay.
func boxed(r rune) rune {
	for _, first := range []rune{0x1F150, 0x1F170} {
		if r >= first && r < first+26 {
			return 'A' + r - first
		}
	}
	return r
}

// kind is what a character is between letters.
type kind uint8

const (
	// unseen characters, and accents that stand alone, are as if they were not there.
	unseen kind = iota
	// between is what stands between words, or between the letters of one that is spaced out.
	between
	// joined letters make words with those beside them.
	joined
	// single letters are of scripts that write no spaces.
	single
)

// unspaced are the scripts that write no spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// asciiLetters are the folded letters and digits of ASCII.
var asciiLetters = func() (table [utf8.RuneSelf][]letter) {
	for r := range rune(utf8.RuneSelf) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[r] = []letter{{plain: unicode.ToLower(r), looks: unicode.ToLower(r), others: written[r]}}
		}
	}
	return table
}()

// fold returns what a character is, and its letters: a ligature has several.
func fold(r rune) (kind, []letter) {
	if r < utf8.RuneSelf {
		if letters := asciiLetters[r]; letters != nil {
			return joined, letters
		}
		return between, nil
	}
	if isUnseen(r) {
		return unseen, nil
	}
	is := joined
	if unicode.In(r, unspaced...) {
		is = single
	}
	var letters []letter
	parts := twice[r]
	if parts == "" {
		parts = norm.NFKD.String(string(boxed(r)))
	}
	for _, part := range parts {
		switch {
		case unicode.Is(unicode.Mn, part):
		case !unicode.IsLetter(part) && !unicode.IsDigit(part) && !unicode.IsNumber(part):
			return between, nil
		default:
			small := unicode.ToLower(part)
			one := letter{plain: small, looks: looksLike(small), others: written[small]}
			if capital := looksLike(part); small != part && capital != 0 {
				one.others += string(capital)
			}
			letters = append(letters, one)
		}
	}
	if len(letters) == 0 {
		return unseen, nil
	}
	return is, letters
}

// looksLike is the letter that one looks like; 0: several, or none.
func looksLike(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	var looks rune
	for _, one := range strings.ToLower(confusables.Skeleton(string(r))) {
		if unicode.Is(unicode.Mn, one) { // the stroke of ø
			continue
		}
		if looks != 0 {
			return 0
		}
		looks = one
	}
	return looks
}

// isUnseen reports characters that are as if they were not there: those that are not shown, and
// accents that stand alone.
func isUnseen(r rune) bool { return isHidden(r) || r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r) }

// isHidden reports characters that are not shown: controls other than white space, marks of format
// and of variants, fillers, and the empty Braille pattern.
func isHidden(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsControl(r) && !unicode.IsSpace(r)
	}
	return r == 0x2800 || unicode.IsControl(r) && !unicode.IsSpace(r) ||
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
