package turns

import (
	"encoding/json"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// Event is what a socket is told.
type Event interface{ IsEvent() }

// ResponseStarted opens an answer.
type ResponseStarted struct {
	// ResponseID is resp_….
	ResponseID string
	TurnID     sessions.TurnID
	// TurnIndex is the turn's place in the session, from 0.
	TurnIndex int
	// CommandID is that of the Respond; empty for the greeting.
	CommandID string
	// Greeting says that this is the agent's first_message.
	Greeting bool
	// Spoken and Heard are those of the Respond.
	Spoken bool
	Heard  *Heard
	// OutOfBand says that the answer is beside the conversation: it has no TurnID, and nothing
	// keeps its items.
	OutOfBand bool
}

// Heard says when an utterance that is answered was spoken and understood.
type Heard struct {
	// SpeechEndedAt is when the user fell silent, CommittedAt when that was believed to be the end,
	// and TranscribedAt when the words were known.
	SpeechEndedAt, CommittedAt, TranscribedAt time.Time
}

// MessageStarted opens a message of the agent within an answer.
type MessageStarted struct {
	ResponseID string
	ItemID     string
}

// TextDelta is the next piece of a message, never empty.
type TextDelta struct {
	ResponseID string
	ItemID     string
	Text       string
}

// MessageDone closes a message, also that of a cancelled answer.
type MessageDone struct {
	ResponseID string
	ItemID     string
	// Text is the whole message.
	Text string
	// Cut says that the message is not whole: the client, a failure or the model's bound ended it.
	Cut bool
}

// ZoneEntered says that the words of a side (user, agent) are in a no-go zone. What follows is the
// reply of the zone.
type ZoneEntered struct {
	ResponseID, Guard, Action, Side string
}

// ToolStarted announces a call that the service runs.
type ToolStarted struct {
	ResponseID string
	ItemID     string
	CallID     string
	// Name is the tool's slug.
	Name string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// System says that it is end_call, skip_turn or language_detection.
	System bool
	// Kind is http or mcp; empty for built-in and system tools, and for one that does not exist.
	Kind tools.Kind
}

// ToolDone is the call's result. Each ToolStarted has one, also when the answer was cancelled.
type ToolDone struct {
	ResponseID string
	ItemID     string
	CallID     string
	Name       string
	Arguments  json.RawMessage
	// Output is the text the model gets.
	Output string
	// Failed says that Output describes an error.
	Failed  bool
	Latency time.Duration
	// Result has the rest of what is known of the call.
	Result sessions.CallResult
	System bool
	Kind   tools.Kind
}

// ApprovalRequested asks whether a call may be made. It comes between the call's ToolStarted and
// ToolDone. Without a decision in time the call is not made.
type ApprovalRequested struct {
	ResponseID string
	// RequestID names the request; it is also the id of its item.
	RequestID string
	CallID    string
	Name      string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// Timeout is how long a decision is waited for, from AskedAt to ExpiresAt.
	Timeout            time.Duration
	AskedAt, ExpiresAt time.Time
}

// KeysWanted has keys of the telephone pressed: digits, *, #, A to D, and w for a pause of half a
// second. It follows the ToolDone of the call that asked for it.
type KeysWanted struct {
	ResponseID, Digits string
}

// LeftToOperator says that a turn was stored and is not answered, because a person has the
// conversation. It is in place of all events of an answer.
type LeftToOperator struct {
	// ResponseID and TurnID are empty when what was said had been stored before the Respond.
	ResponseID string
	TurnID     sessions.TurnID
	// CommandID is that of the Respond.
	CommandID string
}

// ClientToolCalled is a call that the client must run. The answer ends here; the client's result
// asks for the next one. Without a result in the agent's time for it, the model is told so and goes
// on.
type ClientToolCalled struct {
	ResponseID string
	ItemID     string
	CallID     string
	Name       string
	Arguments  json.RawMessage
}

// ResponseOf is the answer that an event is within; empty for the first and the last event of an
// answer, and for those of none.
func ResponseOf(e Event) string {
	switch e := e.(type) {
	case MessageStarted:
		return e.ResponseID
	case TextDelta:
		return e.ResponseID
	case MessageDone:
		return e.ResponseID
	case ZoneEntered:
		return e.ResponseID
	case ToolStarted:
		return e.ResponseID
	case ToolDone:
		return e.ResponseID
	case ApprovalRequested:
		return e.ResponseID
	case ClientToolCalled:
		return e.ResponseID
	case KeysWanted:
		return e.ResponseID
	}
	return ""
}

// ResponseStatus is how an answer ended.
type ResponseStatus string

// The statuses, which are those of the turn; an incomplete answer's turn is completed.
const (
	ResponseCompleted ResponseStatus = "completed"
	ResponseCancelled ResponseStatus = "cancelled"
	ResponseFailed    ResponseStatus = "failed"
	// ResponseIncomplete: the model stopped before its end, or had to answer without more calls.
	ResponseIncomplete ResponseStatus = "incomplete"
)

// The reasons of an answer that was cancelled, and of one that is incomplete.
const (
	ReasonClientCancelled = "client_cancelled"
	ReasonTurnDetected    = "turn_detected"
	ReasonMaxOutputTokens = "max_output_tokens"
	ReasonContentFilter   = "content_filter"
	// ReasonToolRounds: the model had called tools as often as a turn may, and had to answer.
	ReasonToolRounds = "tool_rounds"
)

// ResponseDone closes an answer; its turn is committed.
type ResponseDone struct {
	ResponseID string
	TurnID     sessions.TurnID
	Status     ResponseStatus
	// Reason is why it was cancelled or is incomplete; empty otherwise.
	Reason    string
	OutOfBand bool
	// Items are the answer's, in order.
	Items []sessions.Item
	// Text is all that the agent said in the answer.
	Text      string
	Citations []sessions.Citation
	Usage     sessions.Usage
	// Err says why it failed (upstream-failed, unavailable, internal); nil otherwise.
	Err *fault.Error
}

// FieldTools is the field of Configured's Refused for a tool of the client that is not offered: the
// agent has one of that name.
const FieldTools = "tools"

// IsEvent implements Event.
func (ResponseStarted) IsEvent() {}

// IsEvent implements Event.
func (MessageStarted) IsEvent() {}

// IsEvent implements Event.
func (TextDelta) IsEvent() {}

// IsEvent implements Event.
func (MessageDone) IsEvent() {}

// IsEvent implements Event.
func (ZoneEntered) IsEvent() {}

// IsEvent implements Event.
func (ToolStarted) IsEvent() {}

// IsEvent implements Event.
func (ToolDone) IsEvent() {}

// IsEvent implements Event.
func (ApprovalRequested) IsEvent() {}

// IsEvent implements Event.
func (ClientToolCalled) IsEvent() {}

// IsEvent implements Event.
func (KeysWanted) IsEvent() {}

// IsEvent implements Event.
func (LeftToOperator) IsEvent() {}

// IsEvent implements Event.
func (ResponseDone) IsEvent() {}
