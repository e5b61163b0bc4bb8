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

// Answer is an answer that is being received, in a form common to all vendors. The zero value is
// ready to use.
type Answer struct {
	// Model is the model as the server names it.
	Model string
	// Reason is why the answer ended, in the word of the vendor. Empty when no reason has come.
	Reason string
	Usage  Usage
	// Counted says that the server sent the token counts of the whole answer.
	Counted bool
	// Begun says that some content has come: text, a piece of a call, or reasoning.
	Begun bool
	// Done says that the vendor's mark of the end has come. With it, or with a reason, the answer is
	// complete. Without either of them the connection was closed half-way through the answer.
	Done bool
	// Whole says that the answer came as one JSON object instead of as a stream.
	Whole bool

	text strings.Builder
	// blank is the white space before the first word. It is emitted with that word only, because an
	// answer may be white space alone.
	blank []byte
	calls []*AnswerCall
	ready []ToolCall
	// opened says that the server began to answer, full that the answer has reached its bounds and
	// nothing more is read.
	opened, full bool
}

// AnswerCall is a call whose arguments are still arriving.
type AnswerCall struct {
	// Index is the number by which the vendor assigns pieces to calls.
	Index     int
	ID, Name  string
	arguments strings.Builder
	// whole are arguments that came with the call itself. Arguments in pieces replace them.
	whole string
}

// AddText adds a piece of text and returns the text to emit: the piece with the white space held back
// before it, or nothing.
func (a *Answer) AddText(piece string) string {
	if piece == "" || a.full {
		return ""
	}
	if a.text.Len() == 0 {
		if strings.TrimSpace(piece) == "" {
			a.blank = append(a.blank, piece...)
			a.full = len(a.blank) > maxTextBytes
			return ""
		}
		a.text.Grow(initialTextBytes)
		if len(a.blank) > 0 {
			piece, a.blank = string(a.blank)+piece, nil
		}
	}
	if room := maxTextBytes - a.text.Len(); len(piece) > room {
		piece, a.full = cutAt(piece, room), true
	}
	a.text.WriteString(piece)
	return piece
}

// AddCall adds a call.
func (a *Answer) AddCall(index int) *AnswerCall {
	call := &AnswerCall{Index: index}
	if len(a.calls) == maxCalls {
		a.full = true
		return call // beyond the bound: it is left out, with its pieces
	}
	a.calls = append(a.calls, call)
	return call
}

// Calls returns the calls in order.
func (a *Answer) Calls() []*AnswerCall { return a.calls }

// Identify sets the id and the name of a call. Some vendors repeat them and others send them late:
// the first value counts.
func (c *AnswerCall) Identify(id, name string) {
	if c.ID == "" {
		c.ID = cutAt(id, maxNameBytes)
	}
	if c.Name == "" {
		c.Name = cutAt(name, maxNameBytes)
	}
}

// AddArguments adds a piece of the arguments of a call.
func (a *Answer) AddArguments(call *AnswerCall, piece string) {
	room := maxArgumentsBytes - call.arguments.Len()
	a.full = a.full || len(piece) > room
	call.arguments.WriteString(cutAt(piece, room))
}

// SetArguments sets arguments that come with the call itself. They count if no pieces follow. An
// empty object means none.
func (a *Answer) SetArguments(call *AnswerCall, arguments string) {
	if arguments == "{}" {
		return
	}
	a.full = a.full || len(arguments) > maxArgumentsBytes
	call.whole = cutAt(arguments, maxArgumentsBytes)
}

// Arguments are the arguments so far.
func (c *AnswerCall) Arguments() string {
	if c.arguments.Len() > 0 {
		return c.arguments.String()
	}
	return c.whole
}

// finish ends the answer and emits its calls. ended is why it ended: after FinishLength and
// FinishFiltered the last call, and every call with incomplete arguments, is malformed.
func (a *Answer) finish(req Request, ended FinishReason, emit func(Event) error) error {
	cut := cutWords[ended]
	if a.full {
		cut = overlongWords
	}
	nameless := 0
	for i, drafted := range a.calls {
		if drafted.ID == "" {
			drafted.ID = req.CallID(nameless)
			nameless++
		}
		call := NewToolCall(drafted.ID, drafted.Name, drafted.Arguments())
		last := i == len(a.calls)-1
		if cut != "" && (last || !isObject(drafted.Arguments())) {
			call = cutCall(drafted, cut)
		}
		a.ready = append(a.ready, call)
		if err := emit(ToolCallReady{Call: call}); err != nil {
			return fmt.Errorf("emit a tool call: %w", err)
		}
	}
	return nil
}

// result is the answer so far: its text, the emitted calls, and the finish reason, which is
// FinishToolCalls if there are calls.
func (a *Answer) result(ended FinishReason) Result {
	switch {
	case len(a.calls) > 0:
		ended = FinishToolCalls
	case a.full:
		ended = FinishLength
	}
	return Result{Text: a.text.String(), ToolCalls: a.ready, FinishReason: ended}
}
