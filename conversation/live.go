package conversation

import (
	"encoding/json"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/tools"
)

// A socket meets a conversation in three steps, whatever its dialect:
//
//	admission, err := sessions.Admit(ctx, AdmitParams{…})   before the HTTP upgrade: 401, 403, 409
//	live, err := sessions.Join(ctx, admission)              after it; replaces an older socket
//	go: for { event, err := live.Next(ctx) … }              io.EOF after Closed
//	    live.Do(ctx, UserMessage{…}) …                      from the reader
//	live.Leave(HungUp or Dropped)                           always, once the socket is gone
//
// Events come in this order; what is in brackets may be missing or repeated:
//
//	[greeting] ( [ItemAdded]… ResponseStarted [content] ResponseDone )… Closed
//	greeting = ResponseStarted MessageStarted TextDelta MessageDone ResponseDone
//	content  = MessageStarted TextDelta… MessageDone | ToolStarted [ApprovalRequested] ToolDone | ClientToolCalled
//
// Calls of one round run side by side: every ToolStarted of the round comes before its first
// ToolDone, and the ToolDones come in the order of the ToolStarteds. At most one response
// is going out at a time; a Respond that comes meanwhile waits its turn and is not an error.

// LiveChannel is which of a session's two sockets this is. A second socket of the same channel
// replaces the first; a voice and a chat socket can be open on one conversation together.
type LiveChannel string

// The channels.
const (
	VoiceChannel LiveChannel = "voice"
	ChatChannel  LiveChannel = "chat"
)

// AdmitParams is what a socket shows before it is one.
type AdmitParams struct {
	SessionID ID
	// Token is the signed token from the URL, else from the bearer or sub-protocol.
	Token   string
	Channel LiveChannel
}

// Command is what a socket wants: [UserMessage], [ToolOutput], [Approve], [Respond], [Ask], [Cancel],
// [Configure], [Greet], [Feedback], [Activity], [End], [Insert], [Remove] or [Truncate].
type Command interface{ command() }

// UserMessage is something the user said. It is in Postgres before ItemAdded comes; it is
// answered when Respond comes. Messages without a Respond between them become one turn.
type UserMessage struct {
	// CommandID is the client's own id of the command, given back in Failed; may be empty.
	CommandID string
	// ItemID is the client's id for the item, which none has that is not removed; empty: one is made (item_…).
	ItemID string
	// After is the item it goes behind in what the model sees, AtFront, or empty for the end.
	After string
	// Text has 1 to 32,000 characters.
	Text string
}

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
	// IfSaid has nothing happen when nothing was said since the last answer began.
	IfSaid bool
	// ClientTools, when not nil, are offered in place of the socket's in this one answer.
	ClientTools []model.Tool
	// ToolChoice and MaxOutputTokens are those of this one answer; empty and 0 keep what is in force. The
	// agent's own bound holds all the same.
	ToolChoice      ToolChoice
	MaxOutputTokens int
	// Input, when not nil, is what the model sees in place of the conversation; empty: nothing.
	Input []InputItem
	// OutOfBand asks for an answer beside the conversation, which neither it nor the transcript keeps.
	// It does not wait its turn; at most 4 go out at once.
	OutOfBand bool
}

// Ask is a UserMessage and the Respond that comes right behind it: nothing comes between, and nearly always it is
// written down and begun in one go.
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
	// Restore are keys of such overrides, "model" and "voice", that get back what the session began with.
	Restore []string
	// ClientTools replace the tools that this socket runs itself; nil keeps them, empty clears them.
	// They are offered in the answers this socket asks for. One named like a tool of the agent is left out.
	ClientTools []model.Tool
	// Variables are dynamic variables that the session does not have yet. They are added when
	// client_overrides has "dynamic_variables", and stay with the session.
	Variables map[string]string
	// ToolChoice and MaxOutputTokens are for the answers this socket asks for; empty and 0 keep them.
	ToolChoice      ToolChoice
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
func (ToolOutput) command()  {}
func (Approve) command()     {}
func (Respond) command()     {}
func (Ask) command()         {}
func (Cancel) command()      {}
func (Configure) command()   {}
func (Greet) command()       {}
func (Feedback) command()    {}
func (Activity) command()    {}
func (End) command()         {}

// Event is what a socket is told.
type Event interface{ liveEvent() }

// ItemKind is the sort of an [Item].
type ItemKind string

// The kinds of items.
const (
	UserItem           ItemKind = "user"
	SystemItem         ItemKind = "system" // a note of the application
	AssistantItem      ItemKind = "assistant"
	ToolItem           ItemKind = "tool"             // a call that the service ran, with its result
	ClientToolCallItem ItemKind = "client_tool_call" // a call that the client runs
	ToolOutputItem     ItemKind = "tool_output"      // the client's result of one
)

// Item is one thing in the conversation.
type Item struct {
	// ID is item_…, or what the client chose.
	ID     string
	TurnID TurnID
	// TurnIndex is the turn's place in the session, from 0.
	TurnIndex int
	Kind      ItemKind
	// Text is the words, or a tool's output.
	Text string
	// CallID, Name and Arguments (a JSON object) are for the three kinds with a call.
	CallID    string
	Name      string
	Arguments json.RawMessage
	// Failed says that the call's result is an error.
	Failed bool
	// After is where a client put it: behind that item, or AtFront; empty: where time puts it.
	After string
	// Put says that a client put in what the agent is to have said or called.
	Put bool
	// Again counts the items of the same id before it, all of which were removed.
	Again int
	// BrokenOff says that the agent did not say it to its end.
	BrokenOff bool
	// Audio is of an item that was spoken; nil: it was written.
	Audio *Audio
}

// ItemAdded is a user's message or a client's tool output that was accepted and persisted; or an
// item of a turn that this socket did not ask for (an HTTP turn, or an answer that went on
// while the socket was away), whole.
type ItemAdded struct {
	// CommandID is that of the command it came from; empty otherwise.
	CommandID string
	Item      Item
	// PreviousItemID is the item before it as the model sees them; empty: it is the first.
	PreviousItemID string
}

// ResponseStarted opens an answer.
type ResponseStarted struct {
	// ResponseID is resp_….
	ResponseID string
	TurnID     TurnID
	// TurnIndex is the turn's place in the session, from 0.
	TurnIndex int
	// CommandID is that of the Respond; empty for the greeting.
	CommandID string
	// Greeting says that this is the agent's first_message.
	Greeting bool
	// OutOfBand says that it is beside the conversation: TurnID is empty, its items are the answer's only.
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
	Result CallResult
	System bool
	Kind   tools.Kind
}

// ApprovalRequested asks whether a call may be made: Approve or Service.Decide comes, in time, or the
// call is not made. It comes between the call's ToolStarted and ToolDone.
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

// ResponseStatus is how an answer went.
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
	TurnID     TurnID
	Status     ResponseStatus
	// Reason is why it was cancelled or is incomplete; empty otherwise.
	Reason    string
	OutOfBand bool
	// Items are the answer's, in order.
	Items []Item
	// Text is everything the agent said in it.
	Text      string
	Citations []Citation
	Usage     Usage
	// Err says why it failed (upstream-failed, unavailable, internal); nil otherwise.
	Err *fault.Error
}

// Configured answers Configure.
type Configured struct {
	CommandID string
	// Session is the session with what is in force now.
	Session         Session
	ClientTools     []model.Tool
	ToolChoice      ToolChoice
	MaxOutputTokens int // 0 or less: no bound of the client
	// Refused are the wishes that were left out, each with the reason in words, for dialects that say so: overrides by
	// their keys, FieldTools, FieldToolChoice.
	Refused []fault.Field
}

// FieldTools is the field of Configured's Refused for a tool of the client that is not offered: the agent has one of that name.
const FieldTools = "tools"

// FieldToolChoice is the field of Configured's Refused for a ToolChoice of a tool that is not offered: it is ToolsAuto then.
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
	Status Status
}

func (ItemAdded) liveEvent()         {}
func (ResponseStarted) liveEvent()   {}
func (MessageStarted) liveEvent()    {}
func (TextDelta) liveEvent()         {}
func (MessageDone) liveEvent()       {}
func (ToolStarted) liveEvent()       {}
func (ToolDone) liveEvent()          {}
func (ApprovalRequested) liveEvent() {}
func (ClientToolCalled) liveEvent()  {}
func (ResponseDone) liveEvent()      {}
func (Configured) liveEvent()        {}
func (Failed) liveEvent()            {}
func (Closed) liveEvent()            {}

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
