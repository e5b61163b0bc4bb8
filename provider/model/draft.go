package model

import (
	"fmt"
	"strings"
)

// Bounds of an answer. The rest is not read: a workspace's own server may send anything.
const (
	// maxTextBytes is some 250,000 tokens, several times the longest answer of any model.
	maxTextBytes = 1 << 20
	// maxArgumentsBytes bounds the arguments of a call, as package tools does.
	maxArgumentsBytes = 256 << 10
	// maxNameBytes bounds the id and the name of a call, which are kept as the server sent them. Names
	// of tools have at most 64 bytes.
	maxNameBytes = 16 << 10
	// maxCalls is far more than models make in parallel.
	maxCalls = 64
	// initialTextBytes is the initial size of the buffer for the text. Most answers fit.
	initialTextBytes = 1 << 10
)

// Draft is an answer that is being received, in a form common to all vendors. Adapters fill it. The
// zero value is ready to use.
type Draft struct {
	text strings.Builder
	// blank is the white space before the first word. It is emitted with that word only, because an
	// answer may be white space alone.
	blank []byte
	calls []*DraftCall
	ready []ToolCall
	full  bool
}

// DraftCall is a call whose arguments are still arriving.
type DraftCall struct {
	// Index is the number by which the vendor assigns pieces to calls.
	Index     int
	ID, Name  string
	arguments strings.Builder
	// whole are arguments that came with the call itself. Arguments in pieces replace them.
	whole string
}

// Say adds a piece of text and returns the text to emit: the piece with the white space held back
// before it, or nothing.
func (d *Draft) Say(piece string) string {
	if piece == "" || d.full {
		return ""
	}
	if d.text.Len() == 0 {
		if strings.TrimSpace(piece) == "" {
			d.blank = append(d.blank, piece...)
			d.full = len(d.blank) > maxTextBytes
			return ""
		}
		d.text.Grow(initialTextBytes)
		if len(d.blank) > 0 {
			piece, d.blank = string(d.blank)+piece, nil
		}
	}
	if room := maxTextBytes - d.text.Len(); len(piece) > room {
		piece, d.full = cutAt(piece, room), true
	}
	d.text.WriteString(piece)
	return piece
}

// Call adds a call.
func (d *Draft) Call(index int) *DraftCall {
	call := &DraftCall{Index: index}
	if len(d.calls) == maxCalls {
		d.full = true
		return call // beyond the bound: it is left out, with its pieces
	}
	d.calls = append(d.calls, call)
	return call
}

// Calls returns the calls in order.
func (d *Draft) Calls() []*DraftCall { return d.calls }

// Identify sets the id and the name of a call. Some vendors repeat them and others send them late:
// the first value counts.
func (c *DraftCall) Identify(id, name string) {
	if c.ID == "" {
		c.ID = cutAt(id, maxNameBytes)
	}
	if c.Name == "" {
		c.Name = cutAt(name, maxNameBytes)
	}
}

// Argue adds a piece of the arguments of a call.
func (d *Draft) Argue(call *DraftCall, piece string) {
	room := maxArgumentsBytes - call.arguments.Len()
	d.full = d.full || len(piece) > room
	call.arguments.WriteString(cutAt(piece, room))
}

// ArgueWhole sets arguments that come with the call itself. They count if no pieces follow. An
// empty object means none.
func (d *Draft) ArgueWhole(call *DraftCall, arguments string) {
	if arguments == "{}" {
		return
	}
	d.full = d.full || len(arguments) > maxArgumentsBytes
	call.whole = cutAt(arguments, maxArgumentsBytes)
}

// Text is the text so far.
func (d *Draft) Text() string { return d.text.String() }

// Full says that the answer has reached its bounds and nothing more is read.
func (d *Draft) Full() bool { return d.full }

// Arguments are the arguments so far.
func (c *DraftCall) Arguments() string {
	if c.arguments.Len() > 0 {
		return c.arguments.String()
	}
	return c.whole
}

// Finish ends the answer and emits its calls. ended is why it ended: after FinishLength and
// FinishFiltered the last call, and every call with incomplete arguments, is malformed.
func (d *Draft) Finish(req Request, ended FinishReason, emit func(Event) error) error {
	cut := cutWords[ended]
	if d.full {
		cut = overlongWords
	}
	nameless := 0
	for i, drafted := range d.calls {
		if drafted.ID == "" {
			drafted.ID = req.CallID(nameless)
			nameless++
		}
		call := NewToolCall(drafted.ID, drafted.Name, drafted.Arguments())
		last := i == len(d.calls)-1
		if cut != "" && (last || !isObject(drafted.Arguments())) {
			call = cutCall(drafted, cut)
		}
		d.ready = append(d.ready, call)
		if err := emit(ToolCallReady{Call: call}); err != nil {
			return fmt.Errorf("handing on a tool call: %w", err)
		}
	}
	return nil
}

// Result is the answer so far: its text, the emitted calls, and the finish reason, which is
// FinishToolCalls if there are calls.
func (d *Draft) Result(ended FinishReason) Result {
	switch {
	case len(d.calls) > 0:
		ended = FinishToolCalls
	case d.full:
		ended = FinishLength
	}
	return Result{Text: d.text.String(), ToolCalls: d.ready, FinishReason: ended}
}
