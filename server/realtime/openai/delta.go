package openai

import "unicode/utf8"

const hex = "0123456789abcdef"

// appendText appends a JSON string as encoding/json writes it without its escapes for HTML.
func appendText(out []byte, text string) []byte {
	out = append(out, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				out = append(out, '\\', c)
			case c >= ' ':
				out = append(out, c)
			default:
				out = appendControl(out, c)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case r == '\u2028' || r == '\u2029': // line ends in JavaScript
			out = append(out, `\u202`...)
			out = append(out, hex[r&0xF])
		default:
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	return append(out, '"')
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
