package conversation

import (
	"context"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// The types of a [StreamEvent].
const (
	StreamStarted  = "turn.started"
	StreamDelta    = "turn.delta"
	StreamToolCall = "turn.tool_call"
	StreamDone     = "turn.done"
)

// StreamEvent is a piece of a turn that is taken without a socket.
type StreamEvent struct {
	Type string
	// Number is the event's place in the turn, from 1.
	Number int
	TurnID TurnID
	// Delta is the next piece of the answer (turn.delta); all of them make its text.
	Delta string
	// ToolCall is a call that has its result (turn.tool_call).
	ToolCall *ToolCall
	// Turn is the whole turn, recorded (turn.done).
	Turn *Turn
}

// sayable says whether a user can have said the text: something, and not too much.
func sayable(text string) bool {
	return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= MaxTextChars && storable(text)
}

func errText() *fault.Error {
	return fault.InvalidField("text", "length", "text must have 1 to %d characters, and not only spaces.", MaxTextChars)
}

// Turn says text to the agent and returns its recorded answer. A pending session begins with
// it; while another turn of the session runs, on any node, it waits. When ctx ends, or emit (nil:
// nobody listens) fails, the answer is stopped and what was said of it recorded as cancelled.
//
// Errors: NotFound, Invalid invalid-request, Precondition session-closed, Upstream
// upstream-failed (the turn is recorded as failed; the session goes on), Unavailable unavailable,
// Canceled canceled.
func (s *Service) Turn(ctx context.Context, p workspaces.Principal, id ID, text string, emit func(StreamEvent) error) (Turn, error) {
	if !sayable(text) {
		return Turn{}, errText()
	}
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return Turn{}, err
	}
	if err := openError(session); err != nil {
		return Turn{}, err
	}
	if emit == nil {
		emit = func(StreamEvent) error { return nil }
	}
	stream := &turnStream{emit: emit}
	r := &runner{
		s: s, start: turnStart{tenant: session.TenantID, session: id, turn: TurnID(idgen.In(ctx, idgen.Turn)), text: text},
		responseID: idgen.New(idgen.Response), emit: stream.take,
	}
	went := r.run(ctx)
	if postgres.IsUnique(went.err, "turns_pkey") { // see idgen.In
		made, err := selectTurn(ctx, s.db, session, r.start.turn)
		if err != nil || made.Status == TurnCompleted {
			return made, err
		}
		r.start.turn = TurnID(idgen.New(idgen.Turn)) // it was lost with its node; this is another try
		went = r.run(ctx)
	}
	s.tellEngine(went.turn)
	if went.err != nil {
		return went.turn, went.err
	}
	if err := stream.send(StreamEvent{Type: StreamDone, Turn: &went.turn}); err != nil {
		return went.turn, goneError{err} // recorded all the same
	}
	return went.turn, nil
}

// turnStream turns the core's events into those of a turn without a socket.
type turnStream struct {
	emit   func(StreamEvent) error
	turn   TurnID
	number int
	said   bool // a message is out: the next one stands apart from it
	apart  bool
}

func (t *turnStream) send(e StreamEvent) error {
	t.number++
	e.Number, e.TurnID = t.number, t.turn
	return t.emit(e)
}

func (t *turnStream) take(e Event) error {
	switch e := e.(type) {
	case ResponseStarted:
		t.turn = e.TurnID
		return t.send(StreamEvent{Type: StreamStarted})
	case MessageStarted:
		t.apart = t.said
	case TextDelta:
		delta := e.Text
		if t.apart {
			delta = betweenMessages + delta
		}
		t.said, t.apart = true, false
		return t.send(StreamEvent{Type: StreamDelta, Delta: delta})
	case ToolDone:
		call := &ToolCall{CallResult: e.Result, ID: e.CallID, Name: e.Name, Arguments: e.Arguments, Output: e.Output}
		return t.send(StreamEvent{Type: StreamToolCall, ToolCall: call})
	}
	return nil
}
