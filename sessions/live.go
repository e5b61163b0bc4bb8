package sessions

import (
	"encoding/json"
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
