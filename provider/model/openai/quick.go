package openai

import (
	"bytes"
	"unicode/utf8"
)

// words is what nearly every chunk of an answer says: a piece of its text, and whose it is.
type words struct{ model, content []byte }

// quickWords reads a chunk that says nothing but a piece of text, in the shapes in which servers send it: an answer has
// hundreds of them, and encoding/json takes some microseconds over each. Whatever else there is in a chunk, and any
// doubt, is false: then encoding/json has the word. What it reads is as good as data is.
func quickWords(data []byte) (words, bool) {
	q := quick{rest: data}
	var w words
	const choices = 1 << 7 // the last of the members below
	seen := q.members([]member{
		{"id", (*quick).text},
		{"object", (*quick).kind},
		{"created", (*quick).number},
		{"model", func(q *quick) bool { return q.plain(&w.model) }},
		{"service_tier", (*quick).textOrNull},
		{"system_fingerprint", (*quick).textOrNull},
		{"obfuscation", (*quick).text},
		{"choices", func(q *quick) bool { return q.take('[') && q.choice(&w) && q.take(']') }},
		{"usage", (*quick).null},
	})
	q.space()
	return w, seen&choices != 0 && len(q.rest) == 0
}

// choice reads the one choice of a chunk.
func (q *quick) choice(w *words) bool {
	const delta = 1
	return q.members([]member{
		{"delta", func(q *quick) bool { return q.delta(w) }},
		{"index", (*quick).number},
		{"logprobs", (*quick).null},
		{"finish_reason", (*quick).null},
	})&delta != 0
}

func (q *quick) delta(w *words) bool {
	const content = 1
	return q.members([]member{
		{"content", func(q *quick) bool { return q.words(&w.content) }},
		{"role", (*quick).text},
		{"refusal", (*quick).null},
		{"tool_calls", (*quick).null},
		{"function_call", (*quick).null},
	})&content != 0
}

// quick reads JSON as far as it is simple. Its methods are false for all else.
type quick struct{ rest []byte }

type member struct {
	name string
	read func(*quick) bool
}

// members reads an object that has no others, each at most once, and says which it has, a bit each; 0: it is another.
func (q *quick) members(known []member) (seen uint) {
	if !q.take('{') {
		return 0
	}
	for {
		var name []byte
		if !q.plain(&name) || !q.take(':') {
			return 0
		}
		at := 0
		for at < len(known) && known[at].name != string(name) {
			at++
		}
		if at == len(known) || seen&(1<<at) != 0 || !known[at].read(q) {
			return 0
		}
		seen |= 1 << at
		if q.take('}') {
			return seen
		}
		if !q.take(',') {
			return 0
		}
	}
}

func (q *quick) space() {
	for len(q.rest) > 0 && q.rest[0] == ' ' {
		q.rest = q.rest[1:]
	}
}

// take reads a mark, behind space.
func (q *quick) take(mark byte) bool {
	q.space()
	if len(q.rest) == 0 || q.rest[0] != mark {
		return false
	}
	q.rest = q.rest[1:]
	return true
}

// plain reads a string of ASCII without escapes.
func (q *quick) plain(into *[]byte) bool {
	if !q.take('"') {
		return false
	}
	for i, c := range q.rest {
		switch {
		case c == '"':
			*into, q.rest = q.rest[:i], q.rest[i+1:]
			return true
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			return false
		}
	}
	return false
}

func (q *quick) text() bool {
	var skipped []byte
	return q.plain(&skipped)
}

// kind reads what a chunk is, which may be an error.
func (q *quick) kind() bool {
	var kind []byte
	return q.plain(&kind) && string(kind) != "error"
}

func (q *quick) textOrNull() bool { return q.null() || q.text() }

func (q *quick) null() bool {
	q.space()
	rest, is := bytes.CutPrefix(q.rest, []byte("null"))
	q.rest = rest
	return is
}

// number reads a whole number of few digits.
func (q *quick) number() bool {
	q.space()
	const most = 15
	digits := 0
	for digits < min(len(q.rest), most) && q.rest[digits] >= '0' && q.rest[digits] <= '9' {
		digits++
	}
	if digits == 0 || q.rest[0] == '0' && digits > 1 {
		return false
	}
	q.rest = q.rest[digits:]
	return true // what is no end of a number is no mark either
}

// words reads a string that may have the escapes of plain text.
func (q *quick) words(into *[]byte) bool {
	if !q.take('"') {
		return false
	}
	var made []byte // nil: there was no escape
	begin := 0
	for i := 0; i < len(q.rest); i++ {
		switch c := q.rest[i]; {
		case c == '"':
			text := q.rest[begin:i]
			if made != nil {
				text = append(made, text...)
			}
			*into, q.rest = text, q.rest[i+1:]
			return utf8.Valid(text)
		case c < ' ':
			return false
		case c == '\\':
			if i+1 == len(q.rest) {
				return false
			}
			plain := escaped[q.rest[i+1]]
			if plain == 0 {
				return false
			}
			if made == nil {
				made = make([]byte, 0, len(q.rest))
			}
			made = append(append(made, q.rest[begin:i]...), plain)
			i++
			begin = i + 1
		}
	}
	return false
}

// escaped are the characters of escapes; those of \u are not here.
var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}
