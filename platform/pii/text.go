package pii

import (
	"unicode"
	"unicode/utf8"
)

// text is a text in a plain form: digits of all scripts are ASCII, spaces and dashes of all kinds
// are ' ' and '-', and invisible characters are left out.
type text struct {
	runes []rune
	// from and to are the offsets of each rune in the original text.
	from, to []int
	// taken are the runes that belong to something that was found.
	taken []bool
	found []Match
	// parsed counts the numbers that package phonenumbers was asked about.
	parsed int
}

func normalize(original string) *text {
	t := &text{}
	for at, r := range original {
		_, width := utf8.DecodeRuneInString(original[at:])
		plain, visible := plainRune(r)
		if !visible {
			continue
		}
		t.runes, t.from, t.to = append(t.runes, plain), append(t.from, at), append(t.to, at+width)
	}
	t.taken = make([]bool, len(t.runes))
	return t
}

// plainRune returns the plain form of a character; visible is false for one that is left out.
func plainRune(r rune) (plain rune, visible bool) {
	if r < utf8.RuneSelf {
		return r, true
	}
	if d := digitOf(r); d >= 0 {
		return '0' + rune(d), true
	}
	switch r {
	case '\u00AD', '\u200B', '\u200C', '\u200D', '\u2060', '\uFEFF', '\u200E', '\u200F', '\u202A', '\u202C', '\u2066', '\u2069':
		return 0, false
	case '＋':
		return '+', true
	case '＠':
		return '@', true
	case '（':
		return '(', true
	case '）':
		return ')', true
	case '．':
		return '.', true
	case '−', 'ー':
		return '-', true
	}
	switch {
	case r >= 'Ａ' && r <= 'Ｚ' || r >= 'ａ' && r <= 'ｚ': // full-width letters
		return r - 'Ａ' + 'A', true
	case unicode.Is(unicode.Pd, r):
		return '-', true
	case unicode.Is(unicode.Zs, r):
		return ' ', true
	}
	return r, true
}

// digitOf returns the value of a decimal digit of any script, and -1 for other characters.
func digitOf(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r):
		return -1
	}
	// The digits of a script are ten characters in order. Only mathematical ones are several tens.
	if r >= 0x1D7CE && r <= 0x1D7FF {
		return int(r-0x1D7CE) % 10
	}
	zero := r
	for range 9 {
		if !unicode.Is(unicode.Nd, zero-1) {
			break
		}
		zero--
	}
	return int(r - zero)
}

// add notes what was found from one rune to another, exclusive.
func (t *text) add(kind Kind, from, to int) {
	t.found = append(t.found, Match{Kind: kind, From: t.from[from], To: t.to[to-1]})
	for i := from; i < to; i++ {
		t.taken[i] = true
	}
}

// at returns a rune, and 0 outside of the text and within what was found.
func (t *text) at(i int) rune {
	if i < 0 || i >= len(t.runes) || t.taken[i] {
		return 0
	}
	return t.runes[i]
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// isWord reports whether the character belongs to an identifier of ASCII characters. Scripts
// without spaces put numbers directly behind words, so that other letters do not count.
func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || isDigit(r)
}

// group is a run of digits.
type group struct{ from, to int }

func (g group) length() int { return g.to - g.from }

// digits returns the digits of some groups.
func (t *text) digits(groups []group) string {
	var out []rune
	for _, g := range groups {
		out = append(out, t.runes[g.from:g.to]...)
	}
	return string(out)
}

// groupsFrom returns the run of groups of digits that begins at a digit. isSeparator says which
// characters may stand between groups, at most maxBetween at once.
func (t *text) groupsFrom(i, maxBetween int, isSeparator func(rune) bool) []group {
	var groups []group
	for {
		g := group{from: i}
		for isDigit(t.at(i)) {
			i++
		}
		g.to = i
		groups = append(groups, g)
		between := 0
		for between <= maxBetween && isSeparator(t.at(i+between)) {
			between++
		}
		if between == 0 || between > maxBetween || !isDigit(t.at(i+between)) {
			return groups
		}
		i += between
	}
}
