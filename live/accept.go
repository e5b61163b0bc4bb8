package live

import (
	"context"
	"encoding/json"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// acceptMessage stores a user's message and sends it to the sockets.
func (e *engine) acceptMessage(live *Live, c UserMessage) {
	if !c.isSayable() {
		live.push(Failed{CommandID: c.CommandID, Err: turns.ErrTextLength()})
		return
	}
	if e.accept(live, c.CommandID, c.stored()) {
		e.client.userSpoke()
		e.leaveToOperator(live)
	}
}

// accept stores a message or tool output of a client and sends it to the sockets; false when it
// could not. live is nil when no socket sent it.
func (e *engine) accept(live *Live, commandID string, message sessions.Message) bool {
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	if refused := e.assignItemID(ctx, &message); refused != nil {
		if live != nil {
			live.push(Failed{CommandID: commandID, Err: refused})
		}
		return false
	}
	turn, err := e.s.turns.Accept(ctx, turns.AcceptParams{
		Session: e.session, New: sessions.TurnID(idgen.New(idgen.Turn)), Open: e.unanswered, Message: message, Cache: e.cache,
	})
	if err != nil {
		e.rejectMessage(ctx, live, commandID, err)
		return false
	}
	e.unanswered = turn.ID
	e.sendAccepted(live, commandID, turn, message)
	return true
}

// insert stores an item that a client adds to what the model sees.
func (e *engine) insert(live *Live, c Insert) {
	message, err := c.stored()
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
	if e.accept(live, c.CommandID, message) {
		e.leaveToOperator(live)
	}
}

// stored is the item as it is stored, or why it cannot be inserted.
func (c Insert) stored() (message sessions.Message, err *fault.Error) {
	message = sessions.Message{ItemID: c.ItemID, After: c.After, Text: c.Text}
	switch c.Kind {
	case sessions.SystemItem:
		message.Role = sessions.RoleSystem
	case sessions.AssistantItem:
		message.Role, message.Inserted = sessions.RoleAssistant, true
		if c.Spoken {
			message.Audio = &sessions.Audio{Transcribed: true}
		}
	case sessions.ClientToolCallItem:
		message, err = insertedCall(c)
	case sessions.UserItem, sessions.ToolItem, sessions.ToolOutputItem:
		err = fault.InvalidField("type", "unknown",
			"Notes, messages of the agent and calls can be inserted, not items of the kind %s.", c.Kind)
	default:
		err = fault.InvalidField("type", "unknown", "There is no kind of item %q.", c.Kind)
	}
	if err == nil && len(message.Calls) == 0 && !turns.IsSayable(message.Text) {
		err = turns.ErrTextLength()
	}
	return message, err
}

const (
	// maxInsertedArguments bounds the arguments of a call that a client inserts.
	maxInsertedArguments = 64 << 10
	maxToolNameBytes     = 128
)

// insertedCall checks a call that a client adds as one of the agent's.
func insertedCall(c Insert) (sessions.Message, *fault.Error) {
	call := sessions.MessageCall{ID: c.CallID, ItemID: c.ItemID, Name: c.Name, Arguments: c.Arguments, Client: true}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage(`{}`)
	}
	var object map[string]json.RawMessage
	switch {
	case c.CallID == "" || len(c.CallID) > turns.MaxItemIDBytes || !sessions.IsStorable(c.CallID):
		return sessions.Message{}, fault.InvalidField("call_id", "length", "call_id has 1 to %d bytes.", turns.MaxItemIDBytes)
	case c.Name == "" || len(c.Name) > maxToolNameBytes || !sessions.IsStorable(c.Name):
		return sessions.Message{}, fault.InvalidField("name", "length", "name has 1 to %d bytes.", maxToolNameBytes)
	case len(call.Arguments) > maxInsertedArguments || json.Unmarshal(call.Arguments, &object) != nil || object == nil:
		return sessions.Message{}, fault.InvalidField("arguments", "json",
			"arguments is a JSON object of at most %d bytes.", maxInsertedArguments)
	case jsonvalue.Unkeepable(call.Arguments) != "":
		return sessions.Message{}, fault.InvalidField("arguments", "unkeepable", "%s", jsonvalue.Unkeepable(call.Arguments))
	}
	return sessions.Message{Role: sessions.RoleAssistant, Inserted: true, After: c.After, Calls: []sessions.MessageCall{call}}, nil
}
