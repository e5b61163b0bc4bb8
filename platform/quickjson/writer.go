package quickjson

import "unicode/utf8"

const hex = "0123456789abcdef"

// AppendString appends a JSON string as encoding/json writes it without its escapes for HTML.
func AppendString(out []byte, text string) []byte {
	out = append(out, '"')
	done := 0 // what lies behind it is as it is, up to i
	for i := 0; i < len(text); {
		if i+word <= len(text) && plain(text[i:i+word]) {
			i += word
			continue
		}
		c := text[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			if (r != utf8.RuneError || size > 1) && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		out = appendEscape(append(out, text[done:i]...), text[i:i+size])
		i += size
		done = i
	}
	return append(append(out, text[done:]...), '"')
}

// word is how many bytes are looked at at once.
const word = 8

// plain says that eight bytes are printable ASCII that a string has as it is. It looks for a byte that is below 0x20, or
// zero once a quote or a backslash is taken from all of them, by what a subtraction borrows. Source: Warren, Hacker's
// Delight, chapter 6.
func plain(text string) bool {
	_ = text[word-1]
	x := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quotes, slashes := x^ones*'"', x^ones*'\\'
	return (x|(x-ones*' ')|(quotes-ones)|(slashes-ones))&tops == 0
}

// appendEscape appends a character that a JSON string does not have as it is.
func appendEscape(out []byte, char string) []byte {
	switch c := char[0]; {
	case c == '"' || c == '\\':
		return append(out, '\\', c)
	case c < ' ':
		return appendControl(out, c)
	case len(char) > 1: // U+2028 and U+2029, line ends in JavaScript
		return append(append(out, `\u202`...), hex[char[2]&0xF])
	}
	return append(out, `\ufffd`...) // no UTF-8
}

func appendControl(out []byte, c byte) []byte {
	switch c {
	case '\b':
		return append(out, `\b`...)
	case '\f':
		return append(out, `\f`...)
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	}
	return append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
}
