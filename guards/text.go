package guards

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isASCII reports whether the text has ASCII characters only.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isWordByte reports whether \w and \b take the byte for part of a word.
func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// isBlank reports whether \s matches the byte.
func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f' }

// isInvisible reports whether the character is a tag, a variation selector of the supplement, a
// direction mark or a space without width. The joiners that scripts and emoji need (U+200C, U+200D)
// are not among them.
func isInvisible(r rune) bool {
	switch {
	case r >= 0xE0000 && r <= 0xE0FFF, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	}
	return r == 0x200B || r == 0x200E || r == 0x200F || r == 0xFEFF || r == 0x00AD || r == 0x034F || r == 0x061C || r == 0x180E
}

// normalizeVisible returns the text without invisible characters, and with plain brackets and
// line ends in place of their look-alikes.
func normalizeVisible(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case isInvisible(r):
			return -1
		case r == '＜' || r == '〈' || r == '⟨' || r == '﹤' || r == '˂':
			return '‹'
		case r == '＞' || r == '〉' || r == '⟩' || r == '﹥' || r == '˃':
			return '›'
		case r == 0x2028 || r == 0x2029 || r == 0x85:
			return '\n'
		}
		return r
	}, text)
}

// foldLetter returns the lower-case ASCII letter that a letter stands for: a capital, one of full
// width, ſ or the Kelvin sign. It lower-cases other letters.
func foldLetter(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	case r >= 'Ａ' && r <= 'Ｚ':
		return r - 'Ａ' + 'a'
	case r >= 'ａ' && r <= 'ｚ':
		return r - 'ａ' + 'a'
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// hasPrefixFold reports whether a text begins with a word, whatever the case and width of its
// letters. The word is in lower-case ASCII.
func hasPrefixFold(text, word string) bool {
	for _, r := range text {
		if word == "" {
			return true
		}
		if foldLetter(r) != rune(word[0]) {
			return false
		}
		word = word[1:]
	}
	return word == ""
}

// hasAnyPrefix reports whether a text begins with one of the strings.
func hasAnyPrefix(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// inOneLine replaces each run of blanks by one space.
func inOneLine(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		begin := i
		for i < len(text) && !isBlank(text[i]) {
			i++
		}
		b.WriteString(text[begin:i])
		begin = i
		for i < len(text) && isBlank(text[i]) {
			i++
		}
		if i > begin {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// fold returns the text in lower case, without accents and invisible characters, with compatible
// characters in their plain form.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < 0x0900 || isInvisible(r) || r == 0x200C || r == 0x200D {
			return -1
		}
		return unicode.ToLower(r)
	}, strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "ß", "ss").Replace(norm.NFKD.String(text))))
}
