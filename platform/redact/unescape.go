package redact

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how many layers of escapes are read: JSON in JSON in a URL.
const maxDepth = 3

// lineEnds removes the line breaks that encoders put into long words.
var lineEnds = strings.NewReplacer("\r", "", "\n", "")

// entities are the named entities that every HTML escaper uses.
var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// unescape decodes one layer of the escapes of URLs (%41), JSON (\u0041, \/) and HTML (&#65;), and
// removes invisible characters, line breaks and what indents the next line.
//
// at maps each byte of text, and its end, to an offset in the original; the result comes with the
// same map of its own.
func unescape(text string, at []int) (string, []int) {
	if !strings.ContainsAny(text, "%\\&\r\n") && !strings.ContainsFunc(text, invisible) {
		return text, at
	}
	var out strings.Builder
	out.Grow(len(text))
	offsets := make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		plain, length := escaped(text[i:])
		if length == 0 {
			plain, length = text[i:i+1], 1
		}
		out.WriteString(plain)
		for range len(plain) {
			offsets = append(offsets, at[i])
		}
		i += length
	}
	return out.String(), append(offsets, at[len(text)])
}

// identity maps each byte of an original text, and its end, to its own offset.
func identity(length int) []int {
	at := make([]int, length+1)
	for i := range at {
		at[i] = i
	}
	return at
}

// escaped decodes the escape that text begins with. length is 0 when text begins with none.
func escaped(text string) (plain string, length int) {
	switch text[0] {
	case '\r', '\n':
		return "", len(text) - len(strings.TrimLeft(text, "\r\n\t "))
	case '%':
		if n, ok := hexValue(text, 1, 2); ok {
			return string([]byte{byte(n)}), 3
		}
	case '\\':
		return escapedJSON(text)
	case '&':
		return escapedMarkup(text)
	}
	if r, size := utf8.DecodeRuneInString(text); invisible(r) {
		return "", size
	}
	return "", 0
}

// invisible reports a character that is not shown, such as a zero-width space. What a model gets
// has none of them, so that a secret with one in it would be whole again.
func invisible(r rune) bool { return r >= utf8.RuneSelf && unicode.Is(unicode.Cf, r) }

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

// hexValue reads hexadecimal digits of text from an offset on.
func hexValue(text string, from, digits int) (uint64, bool) {
	if len(text) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[from:from+digits], 16, 32)
	return n, err == nil
}
