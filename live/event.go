package live

import (
	"errors"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// ItemAdded is a new item: a user's message or a client's tool output that was stored, or a whole
// item of a turn that this socket did not ask for (a turn over HTTP, or an answer that continued
// while the socket was away).
type ItemAdded struct {
	// CommandID is the command that added the item; empty when this socket sent none.
	CommandID string
	Item      sessions.Item
	// PreviousItemID is the item before it in what the model sees; empty when it is the first.
	PreviousItemID string
}

// Configured answers Configure.
type Configured struct {
	CommandID string
	// Session is the session with the configuration in force.
	Session         sessions.Session
	ClientTools     []model.Tool
	ToolChoice      turns.ToolChoice
	MaxOutputTokens int // 0 or less: no bound of the client
	// Refused are the changes that were left out, each with a reason in words, for dialects that
	// report them. The fields are the overrides' keys, FieldTools and FieldToolChoice.
	Refused []fault.Field
}

// FieldToolChoice is the field in Configured.Refused for a ToolChoice of a tool that is not
// offered. ToolsAuto is in force then.
const FieldToolChoice = "tool_choice"

// HandoverChanged says that a person was asked for, has taken the session over, or that nobody has
// it any more. A socket that joins gets it too, unless nobody has.
type HandoverChanged struct {
	Status sessions.HandoverStatus
	// Operator is the person who has the session; empty: nobody has.
	Operator string
}

// Failed says that a command was not carried out; the conversation continues.
type Failed struct {
	CommandID string
	Err       *fault.Error
}

// ItemRetrieved answers Retrieve.
type ItemRetrieved struct {
	CommandID string
	Item      sessions.Item
}

// ItemRemoved says that the model no longer sees an item.
type ItemRemoved struct {
	// CommandID is the command that removed the item, on the socket that sent it; empty on others.
	CommandID string
	ItemID    string
}

// ItemTruncated says that a spoken item was cut to what the user heard.
type ItemTruncated struct {
	CommandID  string
	ItemID     string
	AudioEndMS int
	// Text is the item's remaining text.
	Text string
}

// AnswerEnded says how an answer ended that another node gave.
type AnswerEnded struct {
	// ResponseID is empty when no socket asked for the answer.
	ResponseID string
	TurnID     sessions.TurnID
	Status     turns.ResponseStatus
	// Items, Text, Citations and Usage are the turn's; empty when Lost.
	Items     []sessions.Item
	Text      string
	Citations []sessions.Citation
	Usage     sessions.Usage
	// Lost says that the node was lost: another answer follows.
	Lost bool
	Err  *fault.Error
	// AlreadySent says that the client has the answer's events. The engine sets it, and so does the
	// socket's server.
	AlreadySent bool
}

// Released tells a socket to close with Code and Reason and to Detach. Its answer is still in
// progress, so events follow until Closed.
type Released struct {
	Code   CloseCode
	Reason string
}

// External is an event that Inject has queued.
type External struct{ Value any }

// Closed is the last event of a socket, which closes with Code and Reason.
type Closed struct {
	Code CloseCode
	// Reason is the session's end_reason when it has ended, otherwise replaced, restart or
	// slow_reader.
	Reason string
	// Ended says that the session is closed. Otherwise the client may connect again with the same
	// URL.
	Ended bool
	// Status is the session's status when Ended.
	Status sessions.Status
}

// IsEvent implements [turns.Event].
func (ItemAdded) IsEvent() {}

// IsEvent implements [turns.Event].
func (Configured) IsEvent() {}

// IsEvent implements [turns.Event].
func (HandoverChanged) IsEvent() {}

// IsEvent implements [turns.Event].
func (Failed) IsEvent() {}

// IsEvent implements [turns.Event].
func (ItemRetrieved) IsEvent() {}

// IsEvent implements [turns.Event].
func (ItemRemoved) IsEvent() {}

// IsEvent implements [turns.Event].
func (ItemTruncated) IsEvent() {}

// IsEvent implements [turns.Event].
func (AnswerEnded) IsEvent() {}

// IsEvent implements [turns.Event].
func (Released) IsEvent() {}

// IsEvent implements [turns.Event].
func (External) IsEvent() {}

// IsEvent implements [turns.Event].
func (Closed) IsEvent() {}

// CloseCode is a WebSocket close code.
type CloseCode int

// The close codes. Those from 4000 on are our own and permanent.
const (
	// CloseEnded: the session is completed.
	CloseEnded CloseCode = 1000
	// CloseInternal: the session has failed.
	CloseInternal CloseCode = 1011
	// CloseRestart: this node is being stopped; connect again.
	CloseRestart CloseCode = 1012
	// CloseSlow: the socket did not read its events; connect again.
	CloseSlow CloseCode = 4408
	// CloseReplaced: a later socket of the channel has joined.
	CloseReplaced CloseCode = 4409
)

// The reasons of a Closed besides a session's end_reason.
const (
	reasonReplaced = "replaced"
	reasonRestart  = "restart"
)

// Leaving is how a socket was closed.
type Leaving uint8

// The ways in which a socket is closed.
const (
	// Dropped: the connection was lost (no close frame, 1006, 1011). The session waits DropGrace.
	Dropped Leaving = iota
	// HungUp: the client closed it with 1000, 1001 or no code (1005). The session completes.
	HungUp
	// Lost: the connection was lost, and its client cannot come back: a telephone. The session
	// completes with the reason disconnected.
	Lost
)

// closedBy is the Closed of a session that has ended.
func closedBy(session sessions.Session) Closed {
	closed := Closed{Code: CloseEnded, Reason: session.EndReason, Ended: true, Status: session.Status}
	if session.Status == sessions.Failed {
		closed.Code = CloseInternal
	}
	return closed
}

// ErrNothingToCancel is the cause of Failed for a Cancel when no such answer is in progress.
var ErrNothingToCancel = errors.New("no answer is in progress")

// The causes of Failed for commands about items.
var (
	// ErrNoPlace: After names no item of the conversation.
	ErrNoPlace = errors.New("no such item to insert after")
	// ErrItemTaken: another item has the id.
	ErrItemTaken = errors.New("the item id is taken")
	// ErrNothingToRetrieve: no item has the id.
	ErrNothingToRetrieve = errors.New("no such item to retrieve")
	// ErrNothingToRemove: no item has the id.
	ErrNothingToRemove = errors.New("no such item to remove")
	// ErrNothingToTruncate: no item has the id.
	ErrNothingToTruncate = errors.New("no such item to truncate")
)

// ErrNoReference is the cause of Failed for an InputItem that refers to no item.
var ErrNoReference = errors.New("no such item to refer to")

// ErrNoCall is the cause of Failed for an InputItem that is the result of a call which is not in
// the Input.
var ErrNoCall = errors.New("no such call to answer")

func errItemTaken() *fault.Error {
	return fault.Wrap(ErrItemTaken, fault.InvalidRequest, "There is an item with that id already.")
}
