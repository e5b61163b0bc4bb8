package guards

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What texts in no disguise are without is found by looking at each character once: the patterns of views say more, and take a
// hundred times as long.

// mixed says whether letters of several alphabets stand side by side, or digits among letters: some may stand for others.
func mixed(text string) bool {
	foreign := false
	for i := range len(text) {
		before, after := byte(0), byte(0)
		if i > 0 {
			before = text[i-1]
		}
		if i+1 < len(text) {
			after = text[i+1]
		}
		switch b := text[i]; {
		case b >= utf8.RuneSelf:
			if isSmall(before) || isSmall(after) {
				return true
			}
			foreign = true
		case !isSmall(b) && isSmall(before) && isSmall(after) && strings.IndexByte("0134578@$", b) >= 0:
			return true
		}
	}
	return foreign && strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.In(r, unicode.Cyrillic, unicode.Greek) })
}

func isSmall(b byte) bool { return b >= 'a' && b <= 'z' }

// mayBeApart says whether a text may have what apart finds: five characters or more of words with one or two separators between
// each and the next.
func mayBeApart(text string) bool {
	const least = 5
	characters, wordBefore := 0, false
	for _, r := range text {
		word := r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf && unicode.IsLetter(r)
		switch {
		case word && wordBefore:
			characters = 0 // neither stands by itself
		case word || r == '_':
			if characters++; characters >= least {
				return true
			}
		case !strings.ContainsRune(" .·•*|/-", r):
			characters = 0
		}
		wordBefore = word
	}
	return false
}

// mayBeHex says whether a text may have what hexRun finds: twenty hexadecimal digits with little between them.
func mayBeHex(text string) bool {
	const least = 20
	digits := 0
	for i := range len(text) {
		switch b := text[i]; {
		case b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F':
			if digits++; digits >= least {
				return true
			}
		case strings.IndexByte(" :,%\\x", b) < 0:
			digits = 0
		}
	}
	return false
}

// base64Runs are runs of at least 16 characters of base64, with what fills up the last, at most so many.
func base64Runs(text string, most int) (runs []string) {
	const least = 16
	for i := 0; i < len(text) && len(runs) < most; i++ {
		begin := i
		for i < len(text) && isBase64(text[i]) {
			i++
		}
		if i-begin < least {
			continue
		}
		for fill := 0; fill < 2 && i < len(text) && text[i] == '='; fill++ {
			i++
		}
		runs = append(runs, text[begin:i])
		i-- // what ended the run may begin the next
	}
	return runs
}

func isBase64(b byte) bool {
	return isWordByte(b) || b == '+' || b == '/' || b == '-'
}

// commonWords are those of English that few texts are without, and those that tell to call a tool.
var commonWords = []string{" the ", " to ", " and ", " all ", " tool", " with ", " you ", " this ", " now", "call ", "ignore "}

// readsAs says whether a text has common words when each of them was changed like that.
func readsAs(text string, change func(string) string) bool {
	found := 0
	for _, word := range commonWords {
		if strings.Contains(text, change(word)) {
			if found++; found >= 2 {
				return true
			}
		}
	}
	return false
}
