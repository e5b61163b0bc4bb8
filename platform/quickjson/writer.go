package quickjson

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Writer writes JSON member by member: before is what stands before a value, of the caller's own making, as
// `,"name":`. The zero value is ready; Out may be given room.
type Writer struct {
	Out []byte
	// Odd says that a number was none: what was written is no JSON.
	Odd bool
}

// Put writes what is JSON already, or a part of it.
func (w *Writer) Put(json string) { w.Out = append(w.Out, json...) }

// Text writes a string, as [AppendString] does.
func (w *Writer) Text(before, text string) { w.Out = AppendString(append(w.Out, before...), text) }

// Int writes a whole number.
func (w *Writer) Int(before string, n int) {
	w.Out = strconv.AppendInt(append(w.Out, before...), int64(n), 10)
}

// Bool writes true or false.
func (w *Writer) Bool(before string, is bool) {
	w.Out = strconv.AppendBool(append(w.Out, before...), is)
}

// Number writes a number as encoding/json does.
func (w *Writer) Number(before string, x float64) {
	w.Out = append(w.Out, before...)
	const least, most = 1e-6, 1e21 // what is between them has no exponent
	size := math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		w.Odd = true
	case size == 0 || size >= least && size < most:
		w.Out = strconv.AppendFloat(w.Out, x, 'f', -1, 64)
	default:
		w.Out = strconv.AppendFloat(w.Out, x, 'e', -1, 64)
		if n := len(w.Out); n >= 4 && w.Out[n-4] == 'e' && w.Out[n-3] == '-' && w.Out[n-2] == '0' { // e-09 is e-9
			w.Out[n-2] = w.Out[n-1]
			w.Out = w.Out[:n-1]
		}
	}
}

// Each writes a list, null for nil, of what one writes; the commas are its own.
func Each[T any](w *Writer, before string, list []T, one func(*T)) {
	w.Put(before)
	if list == nil {
		w.Put("null")
		return
	}
	w.Put("[")
	for i := range list {
		if i > 0 {
			w.Put(",")
		}
		one(&list[i])
	}
	w.Put("]")
}

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
