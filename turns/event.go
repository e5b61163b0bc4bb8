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
	// OutOfBand says that it is beside the conversation: TurnID is empty, its items are the
	// answer's only.
	OutOfBand bool
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

// MessageDone closes a message. It comes for a cancelled answer's message too.
type MessageDone struct {
	ResponseID string
	ItemID     string
	// Text is the whole of it.
	Text string
	// Cut says that the message was broken off, by the client, a failure or the model's bound.
	Cut bool
}

// ToolStarted is a call that the service now runs.
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
	// Failed says that Output tells of an error.
	Failed  bool
	Latency time.Duration
	// Result is what else is known of it.
	Result sessions.CallResult
	System bool
	Kind   tools.Kind
}

// ApprovalRequested asks whether a call may be made: Approve or Service.Decide comes, in time, or
// the call is not made. It comes between the call's ToolStarted and ToolDone.
type ApprovalRequested struct {
	ResponseID string
	// RequestID names the question; it is the id of its item too.
	RequestID string
	CallID    string
	Name      string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// Timeout is how long the answer is waited for, from AskedAt to ExpiresAt.
	Timeout            time.Duration
	AskedAt, ExpiresAt time.Time
}

// ClientToolCalled is a call that the client must run; ToolOutput and Respond come back. The answer
// ends here. Without a result within the agent's time for it, the model is told so and goes on.
type ClientToolCalled struct {
	ResponseID string
	ItemID     string
	CallID     string
	Name       string
	Arguments  json.RawMessage
}

// ResponseStatus is how an answer outcome.
type ResponseStatus string

// The statuses, which are those of the turn; an incomplete answer's turn is completed.
const (
	ResponseCompleted ResponseStatus = "completed"
	ResponseCancelled ResponseStatus = "cancelled"
	ResponseFailed    ResponseStatus = "failed"
	// ResponseIncomplete: the model stopped before its end.
	ResponseIncomplete ResponseStatus = "incomplete"
)

// The reasons of an answer that was cancelled, and of one that is incomplete.
const (
	ReasonClientCancelled = "client_cancelled"
	ReasonTurnDetected    = "turn_detected"
	ReasonMaxOutputTokens = "max_output_tokens"
	ReasonContentFilter   = "content_filter"
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
	// Text is everything the agent said in it.
	Text      string
	Citations []sessions.Citation
	Usage     sessions.Usage
	// Err says why it failed (upstream-failed, unavailable, internal); nil otherwise.
	Err *fault.Error
}

// FieldTools is the field of Configured's Refused for a tool of the client that is not offered: the
// agent has one of that name.
const FieldTools = "tools"

func (ResponseStarted) IsEvent() {}

func (MessageStarted) IsEvent() {}

func (TextDelta) IsEvent() {}

func (MessageDone) IsEvent() {}

func (ToolStarted) IsEvent() {}

func (ToolDone) IsEvent() {}

func (ApprovalRequested) IsEvent() {}

func (ClientToolCalled) IsEvent() {}

func (ResponseDone) IsEvent() {}
