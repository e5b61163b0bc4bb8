package quickjson

import (
	"bytes"
	"unicode/utf8"
)

// Reader is a place in a text. Its methods read what stands there and are false when it is something else, behind which
// a Reader is of no more use.
type Reader struct{ rest []byte }

// New reads data, which what it reads shares the bytes of.
func New(data []byte) Reader { return Reader{data} }

// Member is a member of an object and what reads its value into a T.
type Member[T any] struct {
	Name string
	Read func(*Reader, *T) bool
}

// Members reads an object that has no other members than these, each at most once, and says which it has, a bit each in
// their order; 0: it is another, or has none. There must be one that is known.
func Members[T any](r *Reader, known []Member[T], into *T) (seen uint) {
	if !r.Take('{') {
		return 0
	}
	next := 0 // members often come in the order in which they are known
	for {
		var name []byte
		if !r.Plain(&name) || !r.Take(':') {
			return 0
		}
		at := next
		for known[at].Name != string(name) {
			if at++; at == len(known) {
				at = 0
			}
			if at == next {
				return 0
			}
		}
		if seen&(1<<at) != 0 || !known[at].Read(r, into) {
			return 0
		}
		seen |= 1 << at
		if next = at + 1; next == len(known) {
			next = 0
		}
		if r.Take('}') {
			return seen
		}
		if !r.Take(',') {
			return 0
		}
	}
}

// End says that nothing follows.
func (r *Reader) End() bool {
	r.space()
	return len(r.rest) == 0
}

func (r *Reader) space() {
	for len(r.rest) > 0 && r.rest[0] == ' ' {
		r.rest = r.rest[1:]
	}
}

// Take reads a mark: a brace, a bracket, a colon or a comma.
func (r *Reader) Take(mark byte) bool {
	r.space()
	if len(r.rest) == 0 || r.rest[0] != mark {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// Plain reads a string of ASCII without escapes.
func (r *Reader) Plain(into *[]byte) bool {
	if !r.Take('"') {
		return false
	}
	for i, c := range r.rest {
		switch {
		case c == '"':
			*into, r.rest = r.rest[:i], r.rest[i+1:]
			return true
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			return false
		}
	}
	return false
}

// Text is Plain for a string that nobody wants.
func (r *Reader) Text() bool {
	var skipped []byte
	return r.Plain(&skipped)
}

// String is Plain into a string of its own.
func (r *Reader) String(into *string) bool {
	var plain []byte
	is := r.Plain(&plain)
	*into = string(plain)
	return is
}

// Null reads null.
func (r *Reader) Null() bool {
	r.space()
	rest, is := bytes.CutPrefix(r.rest, []byte("null"))
	r.rest = rest
	return is
}

// Number reads a whole number of few digits, which nobody wants.
func (r *Reader) Number() bool {
	r.space()
	const most = 15
	digits := 0
	for digits < min(len(r.rest), most) && r.rest[digits] >= '0' && r.rest[digits] <= '9' {
		digits++
	}
	if digits == 0 || r.rest[0] == '0' && digits > 1 {
		return false
	}
	r.rest = r.rest[digits:]
	return true // what is no end of a number is no mark either
}

// Words reads a string of UTF-8 that may have the escapes of plain text.
func (r *Reader) Words(into *[]byte) bool {
	if !r.Take('"') {
		return false
	}
	var made []byte // nil: there was no escape
	begin := 0
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; {
		case c == '"':
			text := r.rest[begin:i]
			if made != nil {
				text = append(made, text...)
			}
			*into, r.rest = text, r.rest[i+1:]
			return utf8.Valid(text)
		case c < ' ':
			return false
		case c == '\\':
			if i+1 == len(r.rest) {
				return false
			}
			plain := escaped[r.rest[i+1]]
			if plain == 0 {
				return false
			}
			if made == nil {
				made = make([]byte, 0, len(r.rest))
			}
			made = append(append(made, r.rest[begin:i]...), plain)
			i++
			begin = i + 1
		}
	}
	return false
}

// escaped are the characters of escapes; those of \u are not here.
var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}
