package openai

import "parlance.dev/parlance/platform/quickjson"

// words is what nearly every chunk of an answer says: a piece of its text, and whose it is.
type words struct{ model, content []byte }

// piece reads such chunks, one after the other: it is kept, because each would take memory otherwise.
type piece struct {
	r reader
	w words
}

// read reads a chunk that says nothing but a piece of text, in the shapes in which servers send it: an answer has
// hundreds of them, and encoding/json takes some microseconds over each. Whatever else there is in a chunk, and any
// doubt, is false: then encoding/json has the word. What it reads is as good as data is.
func (p *piece) read(data []byte) (words, bool) {
	p.r, p.w = quickjson.New(data), words{}
	const choices = 1 << 7 // the bit of that member
	seen := quickjson.Members(&p.r, chunkMembers, &p.w)
	return p.w, seen&choices != 0 && p.r.End()
}

type (
	reader = quickjson.Reader
	member = quickjson.Member[words]
)

// What a chunk, its choice and that one's delta may have.
var (
	chunkMembers = []member{
		{Name: "id", Read: anyText},
		{Name: "object", Read: kind},
		{Name: "created", Read: anyNumber},
		{Name: "model", Read: func(r *reader, w *words) bool { return r.Plain(&w.model) }},
		{Name: "service_tier", Read: textOrNull},
		{Name: "system_fingerprint", Read: textOrNull},
		{Name: "obfuscation", Read: anyText},
		{Name: "choices", Read: func(r *reader, w *words) bool { return r.Take('[') && quickChoice(r, w) && r.Take(']') }},
		{Name: "usage", Read: null},
	}
	choiceMembers = []member{
		{Name: "delta", Read: quickDelta},
		{Name: "index", Read: first},
		{Name: "logprobs", Read: null},
		{Name: "finish_reason", Read: null},
	}
	deltaMembers = []member{
		{Name: "content", Read: func(r *reader, w *words) bool { return r.Words(&w.content) }},
		{Name: "role", Read: anyText},
		{Name: "refusal", Read: null},
		{Name: "tool_calls", Read: null},
		{Name: "function_call", Read: null},
	}
)

// quickChoice reads the one choice of a chunk, which must have a delta.
func quickChoice(r *reader, w *words) bool { return quickjson.Members(r, choiceMembers, w)&1 != 0 }

// quickDelta reads one that must have content.
func quickDelta(r *reader, w *words) bool { return quickjson.Members(r, deltaMembers, w)&1 != 0 }

// kind reads what a chunk is, which may be an error.
func kind(r *reader, _ *words) bool {
	var kind []byte
	return r.Plain(&kind) && string(kind) != "error"
}

// first reads the number of the one choice that is asked for.
func first(r *reader, _ *words) bool { return r.Take('0') } // what is no end of a number is no mark either

func anyText(r *reader, _ *words) bool    { return r.Text() }
func anyNumber(r *reader, _ *words) bool  { return r.Number() }
func null(r *reader, _ *words) bool       { return r.Null() }
func textOrNull(r *reader, _ *words) bool { return r.Null() || r.Text() }
