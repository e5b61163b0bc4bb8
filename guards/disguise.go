package guards

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// hasMixedAlphabets reports whether letters of several alphabets, or digits and letters, stand side
// by side: some may stand for others. It finds what a regular expression would, in a hundredth of
// the time.
func hasMixedAlphabets(text string) bool {
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
	return foreign && strings.ContainsFunc(text, func(r rune) bool {
		return r >= utf8.RuneSelf && unicode.In(r, unicode.Cyrillic, unicode.Greek)
	})
}

// mayHaveSpacedLetters reports whether spacedLetters may match: five characters that stand by
// themselves.
func mayHaveSpacedLetters(text string) bool {
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

// mayHaveHex reports whether hexRun may match: twenty hexadecimal digits with little between them.
func mayHaveHex(text string) bool {
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

// base64Runs returns up to most runs of at least 16 characters of base64, with their padding.
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
		i-- // the character after the run may begin the next one
	}
	return runs
}

// commonWords are English words that few texts lack, and words that tell a model to call a tool.
var commonWords = []string{" the ", " to ", " and ", " all ", " tool", " with ", " you ", " this ", " now", "call ", "ignore "}

// hasCommonWords reports whether a text has common words after each was changed by change.
func hasCommonWords(text string, change func(string) string) bool {
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

// rot13 replaces each letter by the one 13 places further.
func rot13(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return 'a' + (r-'a'+13)%26
		}
		return r
	}, text)
}

// reversed returns the text backwards.
func reversed(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

// isReadable reports whether bytes are printable text.
func isReadable(content []byte) bool {
	const least = 8
	return utf8.Valid(content) && len(content) >= least &&
		!strings.ContainsFunc(string(content), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) })
}

// unescape decodes a run of \u escapes.
func unescape(run string) string {
	var b strings.Builder
	for i := 0; i+6 <= len(run); i += 6 {
		decoded, err := hex.DecodeString(run[i+2 : i+6])
		if err == nil {
			b.WriteRune(rune(decoded[0])<<8 | rune(decoded[1]))
		}
	}
	return b.String()
}

// joinSpacedLetters joins letters that stand apart; wider gaps separate words.
func joinSpacedLetters(text string) string {
	words := wideGaps.Split(text, -1)
	for i, word := range words {
		words[i] = separators.ReplaceAllString(word, "")
	}
	return strings.Join(words, " ")
}

// tagText returns what is written in Unicode's invisible tag characters.
func tagText(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0xE0020 && r <= 0xE007E }) {
		return ""
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 0xE0020 && r <= 0xE007E {
			return r - 0xE0000
		}
		return -1
	}, text))
}

var (
	spacedLetters = regexp.MustCompile(`(?:\b[\pL\d_][ .·•*|/_-]{1,2}){4,}[\pL\d_]\b`)
	hexRun        = regexp.MustCompile(`(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[ :,]?){10,}`)
	escapes       = regexp.MustCompile(`(?:\\u[0-9a-fA-F]{4}){3,}`)
	wideGaps      = regexp.MustCompile(`\s{2,}|\n`)
	separators    = regexp.MustCompile(`[ .·•*|/_-]`)
)

// lookAlikes replaces letters of other alphabets, and digits, by the Latin letters they look like.
var lookAlikes = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, line := range linesOf(wordFiles, "words/lookalikes.txt") {
		letters := strings.Fields(line)
		for _, other := range letters[1:] {
			pairs = append(pairs, other, letters[0])
		}
	}
	return strings.NewReplacer(pairs...)
})
