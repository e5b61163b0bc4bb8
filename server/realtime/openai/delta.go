package openai

import "unicode/utf8"

const hex = "0123456789abcdef"

// appendText appends a JSON string as encoding/json writes it without its escapes for HTML.
func appendText(out []byte, text string) []byte {
	out = append(out, '"')
	done := 0 // what lies behind it is as it is, up to i
	for i := 0; i < len(text); {
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
