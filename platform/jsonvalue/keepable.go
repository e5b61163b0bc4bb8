package jsonvalue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Bounds of numbers. Postgres writes those of jsonb without an exponent: 1e308 takes 309 digits.
const (
	// maxDigits is more than any double needs.
	maxDigits = 400
	// maxWidening is how many digits all numbers of a value may take beyond their text.
	maxWidening = 16 << 10
)

// Unkeepable says in a sentence what in valid JSON cannot be kept as it was written: U+0000 and
// numbers that are too large for Postgres or a double, half a surrogate pair, and a member that its
// object has twice, of which readers keep one. It is empty when there is nothing, or no valid JSON.
func Unkeepable(raw json.RawMessage) string {
	if !json.Valid(raw) {
		return ""
	}
	if sentence := unkeepableEscape(raw); sentence != "" {
		return sentence
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var open []*names
	for widening := 0; ; {
		token, err := decoder.Token()
		if err != nil {
			return "" // the end
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			if name, twice := open[len(open)-1].twice(token); twice {
				return fmt.Sprintf("The member %.60q is there twice in one object; name each member once.", name)
			}
		}
		switch token := token.(type) {
		case json.Delim:
			open = append(open, newNames(token))
		case json.Number:
			digits := digitsOf(token)
			widening += max(0, digits-len(token))
			if _, err := token.Float64(); err != nil || digits > maxDigits || widening > maxWidening {
				return fmt.Sprintf("The number %.60s is too large or too long, or there are too many of its kind; "+
					"write it with fewer digits, or as a string.", token)
			}
		}
	}
}

// names are the members of an object so far; seen is nil for a list.
type names struct {
	seen  map[string]bool
	value bool // the next token is a value
}

func newNames(open json.Delim) *names {
	if open == '{' {
		return &names{seen: map[string]bool{}}
	}
	return &names{}
}

// twice takes the next token of an object, and says whether it is a name that was there before.
func (n *names) twice(token json.Token) (string, bool) {
	if n.seen == nil {
		return "", false
	}
	n.value = !n.value
	name, _ := token.(string)
	if !n.value {
		return "", false
	}
	before := n.seen[name]
	n.seen[name] = true
	return name, before
}

// unkeepableEscape looks for the escapes of U+0000 and of half a surrogate pair in valid JSON,
// which has backslashes only in strings.
func unkeepableEscape(raw []byte) string {
	for i := bytes.IndexByte(raw, '\\'); i >= 0 && i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first, escaped := EscapedUnit(raw[i:])
		switch {
		case !escaped:
			i++
		case first == 0:
			return "A text has the character U+0000 (\\u0000); leave it out."
		case !utf16.IsSurrogate(first):
			i += 5
		default:
			second, _ := EscapedUnit(raw[i+6:])
			if utf16.DecodeRune(first, second) == '\uFFFD' {
				return fmt.Sprintf("A text has \\u%04x, which is half a character; write the whole character.", first)
			}
			i += 11
		}
	}
	return ""
}

// EscapedUnit is the UTF-16 unit of the escape \uXXXX at the beginning of text; false if there is
// none.
func EscapedUnit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}

// digitsOf is at least how many characters a number takes without an exponent.
func digitsOf(number json.Number) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(number)), "e")
	if exponent == "" {
		return len(mantissa)
	}
	power, err := strconv.Atoi(exponent)
	if err != nil || power > maxDigits || power < -maxDigits {
		return maxDigits + 1
	}
	return len(mantissa) + max(power, -power)
}
