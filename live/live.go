package live

import (
	"encoding/json"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// AdmitParams is what a socket shows before it is one.
type AdmitParams struct {
	SessionID sessions.ID
	// Token is the signed token from the URL, else from the bearer or sub-protocol.
	Token   string
	Channel sessions.Channel
}

// Command is what a socket wants: [UserMessage], [ToolOutput], [Approve], [Respond], [Ask],
// [Cancel], [Configure], [Greet], [Feedback], [Activity], [End], [Insert], [Remove] or [Truncate].
type Command interface{ command() }

// UserMessage is something the user said. It is in Postgres before ItemAdded comes; it is
// answered when Respond comes. Messages without a Respond between them become one turn.
type UserMessage struct {
	// CommandID is the client's own id of the command, given back in Failed; may be empty.
	CommandID string
	// ItemID is the client's id for the item, which none has that is not removed; empty: one is
	// made (item_…).
	ItemID string
	// After is the item it goes behind in what the model sees, AtFront, or empty for the end.
	After string
	// Text has 1 to 32,000 characters.
	Text string
}

// Approve is the client's word on an ApprovalRequested. The answer goes on by itself.
type Approve struct {
	CommandID string
	RequestID string
	Approved  bool
	// Reason, at most 500 characters, is told to the model when it was not approved.
	Reason string
}

// Respond asks for an answer to what was said since the last one. Without anything new the
// model is asked to go on.
type Respond struct {
	CommandID string
	// Instructions replace the agent's for this one answer; nil keeps them. They apply only when
	// the agent's client_overrides has "instructions", and are ignored otherwise.
	Instructions *string
	// Awaited says that the client looks for this very answer: it is not left out as one that comes
	// doubly.
	Awaited bool
	// IfSaid has nothing happen when nothing was said since the last answer began.
	IfSaid bool
	// ClientTools, when not nil, are offered in place of the socket's in this one answer.
	ClientTools []model.Tool
	// ToolChoice and MaxOutputTokens are those of this one answer; empty and 0 keep what is in
	// force. The agent's own bound holds all the same.
	ToolChoice      turns.ToolChoice
	MaxOutputTokens int
	// Input, when not nil, is what the model sees in place of the conversation; empty: nothing.
	Input []InputItem
	// OutOfBand asks for an answer beside the conversation, which neither it nor the transcript
	// keeps. It does not wait its turn; at most 4 go out at once.
	OutOfBand bool
}

// Ask is a UserMessage and the Respond that comes right behind it: nothing comes between, and
// nearly always it is written down and begun in one go.
type Ask struct {
	Said UserMessage
	Wish Respond
}

// Cancel stops the answer that is going out; what was sent stays in the transcript. With none
// going out it is answered by Failed with the cause ErrNothingToCancel.
type Cancel struct {
	CommandID string
	// ResponseID, when set, must be one going out; empty is the one of the conversation.
	ResponseID string
	// Speech says that the user's speech is why.
	Speech bool
}

// Configure changes the session from the client's side, until the socket is gone. Whatever the
// agent does not allow is left as it is, silently: Configured tells what is in force.
type Configure struct {
	CommandID string
	// Overrides are keys of POST /sessions' overrides, applied where client_overrides has them.
	// Values of the wrong type are left out too.
	Overrides map[string]json.RawMessage
	// Restore are keys of such overrides, "model" and "voice", that get back what the session began
	// with.
	Restore []string
	// ClientTools replace the tools that this socket runs itself; nil keeps them, empty clears
	// them. They are offered in the answers this socket asks for. One named like a tool of the
	// agent is left out.
	ClientTools []model.Tool
	// Variables are dynamic variables that the session does not have yet. They are added when
	// client_overrides has "dynamic_variables", and stay with the session.
	Variables map[string]string
	// ToolChoice and MaxOutputTokens are for the answers this socket asks for; empty and 0 keep
	// them.
	ToolChoice      turns.ToolChoice
	MaxOutputTokens int
}

// Greet says the agent's first_message, for sockets whose Admission has HoldGreeting. It does
// nothing once the session has a turn.
type Greet struct{}

// Activity says that the user is there (speaks, types), which holds off the idle time-out.
type Activity struct{}

// End closes the session. Closed follows.
type End struct {
	// Failed ends it as failed instead of completed.
	Failed bool
	// Reason is the end_reason, at most 500 characters.
	Reason string
}

func (UserMessage) command() {}

func (Approve) command() {}

func (Respond) command() {}

func (Ask) command() {}

func (Cancel) command() {}

func (Configure) command() {}

func (Greet) command() {}

func (Feedback) command() {}

func (Activity) command() {}

func (End) command() {}

// ItemAdded is a user's message or a client's tool output that was accepted and persisted; or an
// item of a turn that this socket did not ask for (an HTTP turn, or an answer that went on
// while the socket was away), whole.
type ItemAdded struct {
	// CommandID is that of the command it came from; empty otherwise.
	CommandID string
	Item      sessions.Item
	// PreviousItemID is the item before it as the model sees them; empty: it is the first.
	PreviousItemID string
}

// Configured answers Configure.
type Configured struct {
	CommandID string
	// Session is the session with what is in force now.
	Session         sessions.Session
	ClientTools     []model.Tool
	ToolChoice      turns.ToolChoice
	MaxOutputTokens int // 0 or less: no bound of the client
	// Refused are the wishes that were left out, each with the reason in words, for dialects that
	// say so: overrides by their keys, FieldTools, FieldToolChoice.
	Refused []fault.Field
}

// FieldToolChoice is the field of Configured's Refused for a ToolChoice of a tool that is not
// offered: it is ToolsAuto then.
const FieldToolChoice = "tool_choice"

// Failed says that a command could not be done; the conversation goes on.
type Failed struct {
	CommandID string
	Err       *fault.Error
}

// Closed is the last event of a socket: close it with Code and Reason.
type Closed struct {
	Code CloseCode
	// Reason is the session's end_reason when it has ended, else replaced, restart or slow_reader.
	Reason string
	// Ended says that the session is over; otherwise the client may come back with the same URL.
	Ended bool
	// Status is the session's when Ended.
	Status sessions.Status
}

func (ItemAdded) IsEvent() {}

func (Configured) IsEvent() {}

func (Failed) IsEvent() {}

func (Closed) IsEvent() {}

// CloseCode is a WebSocket close code.
type CloseCode int

// The close codes. Those from 4000 on are our own and permanent.
const (
	// CloseEnded: the session is over and completed.
	CloseEnded CloseCode = 1000
	// CloseInternal: the session is over and failed.
	CloseInternal CloseCode = 1011
	// CloseRestart: this node is being stopped; connect again.
	CloseRestart CloseCode = 1012
	// CloseSlow: the socket did not take its events; connect again.
	CloseSlow CloseCode = 4408
	// CloseReplaced: another socket of the same channel took over.
	CloseReplaced CloseCode = 4409
)

// Leaving is how a socket went away.
type Leaving uint8

// The ways to leave.
const (
	// Dropped: the connection was lost (no close frame, 1006, 1011): the session waits DropGrace.
	Dropped Leaving = iota
	// HungUp: a close frame with 1000, 1001 or none (1005): the session completes.
	HungUp
)

// ToolOutput is the client's result of a ClientToolCalled, from any socket of the session. Respond
// makes the model go on with it, once every call of the answer has its result or has timed out.
// A call that nobody made, or that has its result already, is answered by Failed.
type ToolOutput struct {
	CommandID string
	ItemID    string
	CallID    string
	// After as in UserMessage; the model gets the result behind its call all the same.
	After string
	// Output has at most 256 KiB; the model gets as much as of any other answer.
	Output  string
	IsError bool
	// Respond asks for the answer too, for dialects whose clients do not.
	Respond bool
}

func (ToolOutput) command() {}

// Feedback is what the user thinks of an answer; the last one counts. Only what went wrong is
// answered, with Failed.
type Feedback struct {
	CommandID string
	sessions.Feedback
}
