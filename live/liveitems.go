package live

import (
	"encoding/json"
	"errors"

	"parlance.dev/parlance/sessions"
)

// Causes of Failed for commands about items.
var (
	// ErrNoPlace: After names no item of the conversation.
	ErrNoPlace = errors.New("no such item to put one behind")
	// ErrItemTaken: there is an item of that id.
	ErrItemTaken = errors.New("the item id is taken")
	// ErrNothingToRetrieve: there is no such item.
	ErrNothingToRetrieve = errors.New("no such item to retrieve")
	// ErrNothingToRemove: there is no such item.
	ErrNothingToRemove = errors.New("no such item to remove")
	// ErrNothingToTruncate: there is no such item.
	ErrNothingToTruncate = errors.New("no such item to truncate")
)

// Insert puts an item into what the model sees that nobody says now: a note of the application
// (SystemItem), words that the agent is to have said (AssistantItem), or a call that it is to have
// made (ClientToolCallItem; its result may follow as ToolOutput, and is not waited for). Nothing is
// answered until Respond comes. It is in Postgres before ItemAdded comes.
//
// A note is the client's, not the operator's: the model is told so, and it does not become
// instructions.
type Insert struct {
	CommandID string
	// ItemID as in UserMessage.
	ItemID string
	// After is the item it goes behind, AtFront, or empty for the end.
	After string
	Kind  sessions.ItemKind
	// Text has 1 to 32,000 characters; empty for a call.
	Text string
	// CallID, Name and Arguments (a JSON object) are of a call.
	CallID    string
	Name      string
	Arguments json.RawMessage
}

// Retrieve asks for an item of the conversation, however old it is, as the model sees it;
// ItemRetrieved comes.
type Retrieve struct {
	CommandID string
	ItemID    string
}

// Remove takes an item out of what the model sees. The transcript keeps it, and says so.
// ItemRemoved comes, on every socket of the session.
type Remove struct {
	CommandID string
	ItemID    string
}

// Truncate cuts a spoken item of the agent to what was heard. The transcript keeps both.
// ItemTruncated comes, on every socket of the session. An item that was not spoken is answered by
// Failed.
type Truncate struct {
	CommandID string
	ItemID    string
	// AudioEndMS is where the listener stopped, 0 to the item's length.
	AudioEndMS int
}

func (Insert) command() {}

func (Retrieve) command() {}

func (Remove) command() {}

func (Truncate) command() {}

// ItemRetrieved answers Retrieve.
type ItemRetrieved struct {
	CommandID string
	Item      sessions.Item
}

// ItemRemoved says that an item is not seen by the model any more.
type ItemRemoved struct {
	// CommandID is that of the command, on the socket that gave it; empty on others.
	CommandID string
	ItemID    string
}

// ItemTruncated says that a spoken item was cut to what was heard.
type ItemTruncated struct {
	CommandID  string
	ItemID     string
	AudioEndMS int
	// Text is what is left of its words.
	Text string
}

func (ItemRetrieved) IsEvent() {}

func (ItemRemoved) IsEvent() {}

func (ItemTruncated) IsEvent() {}
