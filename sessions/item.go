package sessions

import (
	"encoding/json"
	"strconv"
)

// ItemKind is the kind of an [Item].
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

// Item is one entry of the conversation as clients see it.
type Item struct {
	// ID is item_…, or an id that the client chose.
	ID     string
	TurnID TurnID
	// TurnIndex is the turn's place in the session, from 0.
	TurnIndex int
	Kind      ItemKind
	// Text is what was said, or a tool's output.
	Text string
	// CallID, Name and Arguments (a JSON object) are set for the three kinds with a call.
	CallID    string
	Name      string
	Arguments json.RawMessage
	// Failed says that the call's result is an error.
	Failed bool
	// After is the item behind which a client put this one, or AtFront. When it is empty, the order
	// of time applies.
	After string
	// Inserted says that a client inserted this as something the agent said or called.
	Inserted bool
	// Generation counts the items of the same id before it, all of which were removed.
	Generation int
	// Interrupted says that the agent was stopped before it had said everything.
	Interrupted bool
	// Audio describes an item that was spoken; nil when it was written.
	Audio *Audio
	// Operator is the person who wrote the item, an AssistantItem; empty: the agent said it. Note
	// says that they wrote it for the model, so that clients do not see it.
	Operator string
	Note     bool
}

// Key identifies an item. Clients may reuse the id of an item that was removed, so the id alone
// does not.
func (i Item) Key() string {
	if i.Generation == 0 {
		return i.ID
	}
	return i.ID + "\x00" + strconv.Itoa(i.Generation)
}

// TranscriptItem is an item whose turn's texts do not show it as the model sees it: a client
// inserted, removed, cut or moved it, or it was spoken.
type TranscriptItem struct {
	Item
	ItemEdit
}
