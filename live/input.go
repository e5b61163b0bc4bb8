package live

import (
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// maxInput bounds a Respond's Input.
const maxInput = 256

// inputOf returns the messages of an Input; nil when the answer is to the conversation.
func (e *engine) inputOf(items []InputItem) ([]sessions.Message, error) {
	if items == nil {
		return nil, nil
	}
	if len(items) > maxInput {
		return nil, fault.InvalidField("input", "max_items", "input has at most %d items.", maxInput)
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	input := []sessions.Message{}
	for _, wanted := range items {
		item := wanted.Item
		if wanted.Reference != "" {
			found, ok, err := e.findItem(ctx, wanted.Reference)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, fault.Wrap(ErrNoReference, fault.InvalidRequest, "There is no item with the id %q to refer to.", wanted.Reference)
			}
			item = found
		} else if refused := checkInput(item); refused != nil {
			return nil, refused
		}
		input = append(input, messagesOf(item)...)
	}
	return input, checkResults(input)
}

// checkResults refuses results without their calls: a model needs both.
func checkResults(messages []sessions.Message) error {
	called := map[string]bool{}
	for _, m := range messages {
		for _, call := range m.Calls {
			called[call.ID] = true
		}
	}
	for _, m := range messages {
		if m.Role == sessions.RoleTool && !called[m.CallID] {
			return fault.Wrap(ErrNoCall, fault.InvalidRequest, "The input has a result of the call %q, but not the call.", m.CallID)
		}
	}
	return nil
}

// checkInput checks an item that a client has written for one answer.
func checkInput(item sessions.Item) *fault.Error {
	switch item.Kind {
	case sessions.ToolOutputItem:
		if len(item.Text) > turns.MaxClientOutputBytes || !sessions.IsStorable(item.Text) {
			return fault.InvalidField("output", "length", "output is text of at most %d bytes, without the character U+0000. Send less.", turns.MaxClientOutputBytes)
		}
	case sessions.ClientToolCallItem:
		_, err := insertedCall(Insert{Kind: item.Kind, CallID: item.CallID, Name: item.Name, Arguments: item.Arguments})
		return err
	case sessions.UserItem, sessions.AssistantItem, sessions.SystemItem:
		if !turns.IsSayable(item.Text) {
			return turns.ErrTextLength()
		}
	case sessions.ToolItem:
		return fault.InvalidField("input", "type", "Calls of the service's tools are referred to, not sent.")
	}
	return nil
}

// messagesOf returns an item as messages of a model request.
func messagesOf(item sessions.Item) []sessions.Message {
	call := sessions.MessageCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments, Client: true}
	switch item.Kind {
	case sessions.SystemItem:
		return []sessions.Message{{Role: sessions.RoleSystem, Text: item.Text}}
	case sessions.AssistantItem:
		return []sessions.Message{{Role: sessions.RoleAssistant, Text: item.Text}}
	case sessions.ClientToolCallItem:
		return []sessions.Message{{Role: sessions.RoleAssistant, Calls: []sessions.MessageCall{call}}}
	case sessions.ToolItem:
		return []sessions.Message{{Role: sessions.RoleAssistant, Calls: []sessions.MessageCall{call}}, {Role: sessions.RoleTool, CallID: item.CallID, Text: item.Text}}
	case sessions.ToolOutputItem:
		return []sessions.Message{{Role: sessions.RoleTool, CallID: item.CallID, Text: tools.CutForModel(item.Text)}}
	case sessions.UserItem:
	}
	return []sessions.Message{{Role: sessions.RoleUser, Text: item.Text, Audio: item.Audio}}
}
