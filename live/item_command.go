package live

import (
	"encoding/json"

	"parlance.dev/parlance/sessions"
)

// Insert adds an item to what the model sees without an answer: a note of the application
// (SystemItem), a message of the agent (AssistantItem), or a call by the agent (ClientToolCallItem;
// its result may follow as ToolOutput, and no answer waits for it). It is in Postgres before
// ItemAdded is sent.
//
// The model is told that a note is the client's and not the operator's, so that it does not become
// an instruction.
type Insert struct {
	CommandID string
	// ItemID is as in UserMessage.
	ItemID string
	// After is the item that precedes it, AtFront, or empty for the end.
	After string
	Kind  sessions.ItemKind
	// Text has 1 to 32,000 characters; empty for a call.
	Text string
	// Spoken says that a message of the agent is said aloud.
	Spoken bool
	// CallID, Name and Arguments (a JSON object) belong to a call.
	CallID    string
	Name      string
	Arguments json.RawMessage
}

// Retrieve asks for any item of the conversation, as the model sees it. ItemRetrieved answers it.
type Retrieve struct {
	CommandID string
	ItemID    string
}

// Remove hides an item from the model. The transcript keeps it, marked as removed. Every socket of
// the session gets ItemRemoved.
type Remove struct {
	CommandID string
	ItemID    string
}

// Truncate cuts a spoken item of the agent to what the user heard. The transcript keeps both. Every
// socket of the session gets ItemTruncated. An item that was not spoken is answered by Failed.
type Truncate struct {
	CommandID string
	ItemID    string
	// AudioEndMS is where the user stopped listening, 0 to the item's length.
	AudioEndMS int
	// HeardText is the item's text until there; nil: it is estimated from the item's length.
	HeardText *string
}

// IsCommand implements Command.
func (Insert) IsCommand() {}

// IsCommand implements Command.
func (Retrieve) IsCommand() {}

// IsCommand implements Command.
func (Remove) IsCommand() {}

// IsCommand implements Command.
func (Truncate) IsCommand() {}

// chosenID returns the id that a client has chosen for the item it adds; empty: none.
func chosenID(command Command) (id, commandID string) {
	switch c := command.(type) {
	case UserMessage:
		return c.ItemID, c.CommandID
	case ToolOutput:
		return c.ItemID, c.CommandID
	case Insert:
		return c.ItemID, c.CommandID
	case Ask:
		return c.Message.ItemID, c.Message.CommandID
	}
	return "", ""
}
