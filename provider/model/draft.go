package model

import (
	"fmt"
	"strings"
)

// Bounds of an answer: what comes after is not read any more, since a workspace's own server may
// send what it likes.
const (
	// maxTextBytes is some 250,000 tokens: several times what any model writes in one answer.
	maxTextBytes = 1 << 20
	// maxArgumentsBytes bounds the arguments of a call: package tools takes no longer ones.
	maxArgumentsBytes = 256 << 10
	// maxNameBytes bounds its id and name, which are kept as the server wrote them: tools' names have
	// 64.
	maxNameBytes = 16 << 10
	// maxCalls is far above the parallel calls that models make.
	maxCalls = 64
	// answerRoom is made at once for the text: most fit, and it need not grow with them.
	answerRoom = 1 << 10
)

// Draft is an answer while it comes in, as far as all vendors' answers are alike; adapters put what
// they read into it. The zero value is ready.
type Draft struct {
	text strings.Builder
	// blank is the white space before the first word. It is held back: an answer may have nothing
	// else.
	blank []byte
	calls []*DraftCall
	ready []ToolCall
	full  bool
}

// DraftCall is a call whose arguments are still arriving.
type DraftCall struct {
	// Index is the vendor's, by which pieces find their call.
	Index     int
	ID, Name  string
	arguments strings.Builder
	// whole are arguments that came at once with the call; those in pieces go before them.
	whole string
}

// Say takes the next piece of text and returns what is to be emitted now: the piece, with the white
// space that was held back before it, or nothing.
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
		d.text.Grow(answerRoom)
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

// Call begins a call.
func (d *Draft) Call(index int) *DraftCall {
	call := &DraftCall{Index: index}
	if len(d.calls) == maxCalls {
		d.full = true
		return call // and is left out, with all that comes
	}
	d.calls = append(d.calls, call)
	return call
}

// Calls are those that have begun, in order.
func (d *Draft) Calls() []*DraftCall { return d.calls }

// Identify takes a call's id and name, which some vendors repeat and others send late: the first
// word counts.
func (c *DraftCall) Identify(id, name string) {
	if c.ID == "" {
		c.ID = cutAt(id, maxNameBytes)
	}
	if c.Name == "" {
		c.Name = cutAt(name, maxNameBytes)
	}
}

// Argue takes the next piece of a call's arguments.
func (d *Draft) Argue(call *DraftCall, piece string) {
	room := maxArgumentsBytes - call.arguments.Len()
	d.full = d.full || len(piece) > room
	call.arguments.WriteString(cutAt(piece, room))
}

// ArgueWhole takes arguments that come with the call itself; they count when no pieces follow. An
// empty object stands for none there.
func (d *Draft) ArgueWhole(call *DraftCall, arguments string) {
	if arguments == "{}" {
		return
	}
	d.full = d.full || len(arguments) > maxArgumentsBytes
	call.whole = cutAt(arguments, maxArgumentsBytes)
}

// Text is what was said so far.
func (d *Draft) Text() string { return d.text.String() }

// Full says that the answer is longer than one may be: nothing more of it is taken.
func (d *Draft) Full() bool { return d.full }

// Arguments are what came of them.
func (c *DraftCall) Arguments() string {
	if c.arguments.Len() > 0 {
		return c.arguments.String()
	}
	return c.whole
}

// Finish ends the answer and emits its calls. ended is why it ended: FinishLength and
// FinishFiltered cut off the last call, and any whose arguments are not whole, so they come out
// malformed.
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

// Result is the answer as far as it goes: text, calls that were emitted, and the reason, which for
// an answer with calls is theirs.
func (d *Draft) Result(ended FinishReason) Result {
	switch {
	case len(d.calls) > 0:
		ended = FinishToolCalls
	case d.full:
		ended = FinishLength
	}
	return Result{Text: d.text.String(), ToolCalls: d.ready, FinishReason: ended}
}
