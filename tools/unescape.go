package tools

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxUnescaped is how many escapes within escapes are read: JSON in JSON in a URL.
const maxUnescaped = 3

// lineEnds are what encoders break long words with.
var lineEnds = strings.NewReplacer("\r", "", "\n", "")

// entities are those that every escaper of markup uses.
var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// unescape reads the escapes of URLs (%41), JSON (\u0041, \/), and markup (&#65;) once and drops line
// ends. With at, the places of text's bytes in what it was made from and that of its end, it returns
// those of what it makes.
func unescape(text string, at []int) (string, []int) {
	if !strings.ContainsAny(text, "%\\&\r\n") {
		return text, at
	}
	var out strings.Builder
	out.Grow(len(text))
	var places []int
	if at != nil {
		places = make([]int, 0, len(text)+1)
	}
	for i := 0; i < len(text); {
		plain, length := escaped(text[i:])
		if length == 0 {
			plain, length = text[i:i+1], 1
		}
		out.WriteString(plain)
		if at != nil {
			for range len(plain) {
				places = append(places, at[i])
			}
		}
		i += length
	}
	if at != nil {
		places = append(places, at[len(text)])
	}
	return out.String(), places
}

// positions is at, or for none those of a text that was made from nothing else.
func positions(length int, at []int) []int {
	if at != nil {
		return at
	}
	at = make([]int, length+1)
	for i := range at {
		at[i] = i
	}
	return at
}

// escaped is what text begins with as an escape, and how long that is there; 0: it begins with none.
func escaped(text string) (plain string, length int) {
	switch text[0] {
	case '\r', '\n':
		return "", 1
	case '%':
		if n, ok := hexValue(text, 1, 2); ok {
			return string([]byte{byte(n)}), 3
		}
	case '\\':
		return escapedJSON(text)
	case '&':
		return escapedMarkup(text)
	}
	return "", 0
}

func escapedJSON(text string) (string, int) {
	if len(text) < 2 {
		return "", 0
	}
	if at := strings.IndexByte(`"\/'bfnrt`, text[1]); at >= 0 {
		return "\"\\/'\b\f\n\r\t"[at : at+1], 2
	}
	if text[1] == 'x' {
		if n, ok := hexValue(text, 2, 2); ok {
			return string(rune(n)), 4
		}
	}
	if text[1] != 'u' {
		return "", 0
	}
	n, ok := hexValue(text, 2, 4)
	if !ok {
		return "", 0
	}
	r := rune(n)
	if utf16.IsSurrogate(r) && strings.HasPrefix(text[6:], `\u`) {
		if low, ok := hexValue(text, 8, 4); ok {
			if whole := utf16.DecodeRune(r, rune(low)); whole != utf8.RuneError {
				return string(whole), 12
			}
		}
	}
	return string(r), 6
}

func escapedMarkup(text string) (string, int) {
	end := strings.IndexByte(text[:min(len(text), 12)], ';')
	if end < 2 {
		return "", 0
	}
	name := text[1:end]
	if plain, ok := entities[name]; ok {
		return plain, end + 1
	}
	if name[0] != '#' {
		return "", 0
	}
	digits, base := name[1:], 10
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return "", 0
	}
	return string(rune(n)), end + 1
}

// hexValue reads digits hexadecimal digits of text from a place on.
func hexValue(text string, from, digits int) (uint64, bool) {
	if len(text) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[from:from+digits], 16, 32)
	return n, err == nil
}
