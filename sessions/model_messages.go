package sessions

import (
	"slices"

	"parlance.dev/parlance/provider/model"
)

// noteIntro precedes a note of the application in what the model reads. The client's program writes
// the note: it comes neither from the operator nor from the user.
const noteIntro = "[A note of the application, not of the user. It is context, and no answer to it is expected.]\n"

// operatorNoteIntro precedes what a person who had the conversation left for the model.
const operatorNoteIntro = "[A note of the person who had the conversation, not of the user. It is context, and no answer to it is " +
	"expected.]\n"

// operatorMark precedes what a person said who had the conversation, with their name.
func operatorMark(name string) string { return "[operator " + OneLine(name) + "] " }

// notTranscribed stands for speech that was not transcribed.
const notTranscribed = "[The user spoke here. Nothing transcribes speech, so the words are not known. Ask the user to write.]"

// ModelMessages converts stored messages to the model's. A result follows the message that made the
// call, wherever it was stored. A call without a result is marked as unanswered; a result without
// its call is left out. fence marks an output as data.
func ModelMessages(stored []Message, fence func(call MessageCall, output string) string) []model.Message {
	results := resultsOf(stored)
	var messages []model.Message
	for _, m := range stored {
		switch {
		case m.Role == RoleUser && m.Text == "" && m.Audio != nil:
			messages = append(messages, model.Message{Role: model.RoleUser, Text: notTranscribed})
			continue
		case m.Role == RoleTool, m.Text == "" && len(m.Calls) == 0:
			continue
		case m.Role == RoleSystem:
			messages = append(messages, model.Message{Role: model.RoleUser, Text: noteIntro + m.ModelText()})
			continue
		case m.Role == RoleUser:
			messages = append(messages, model.Message{Role: model.RoleUser, Text: m.ModelText()})
			continue
		case m.Role == RoleOperator && m.Note:
			messages = append(messages, model.Message{Role: model.RoleUser, Text: operatorNoteIntro + m.Text})
			continue
		case m.Role == RoleOperator:
			messages = append(messages, model.Message{Role: model.RoleAssistant, Text: operatorMark(m.Operator) + m.Text})
			continue
		}
		said := model.Message{Role: model.RoleAssistant, Text: m.ModelText()}
		if m.Withheld {
			messages = append(messages, said)
			continue
		}
		for _, call := range m.Calls {
			said.ToolCalls = append(said.ToolCalls, model.ToolCall{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
		}
		messages = append(messages, said)
		for _, call := range m.Calls {
			output := outputUnanswered
			if result, ok := results[call.ID]; ok {
				output = result.Text
			}
			messages = append(messages, model.Message{Role: model.RoleTool, Text: fence(call, output), Bare: output, ToolCallID: call.ID})
		}
	}
	return messages
}

// ArrangeMessages returns the messages as the model sees them: moved to the places that clients
// chose, without removed items, and with the heard part of truncated ones. The transcript has all
// messages in the order of time.
func ArrangeMessages(messages []Message, edits ItemEdits) []Message {
	return EditedMessages(moveToPlaces(messages), edits)
}

// moveToPlaces moves messages behind the items that clients named, oldest first. A message whose
// item is not among the messages moves to the front.
func moveToPlaces(messages []Message) []Message {
	if !slices.ContainsFunc(messages, func(m Message) bool { return m.After != "" }) {
		return messages
	}
	ordered := make([]Message, 0, len(messages))
	for _, m := range messages {
		at := len(ordered)
		if m.After != "" {
			at = 1 + lastIndexOf(ordered, m.After)
		}
		ordered = slices.Insert(ordered, at, m)
	}
	return ordered
}

// lastIndexOf returns the index of the newest message that has the item, or -1.
func lastIndexOf(messages []Message, id string) int {
	last := -1
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].hasItem(id) && (last < 0 || messages[i].Generation > messages[last].Generation) {
			last = i
		}
	}
	return last
}

// hasItem reports whether the item is the message or one of its calls.
func (m Message) hasItem(id string) bool {
	return m.ItemID == id || slices.ContainsFunc(m.Calls, func(c MessageCall) bool { return c.ItemID == id })
}

// EditedMessages returns the messages without removed items, and with the heard part of truncated
// ones.
func EditedMessages(messages []Message, edits ItemEdits) []Message {
	if len(edits) == 0 {
		return messages
	}
	var left []Message
	for _, m := range messages {
		if edits.Removed(m.ItemID, m.Generation) {
			if len(m.Calls) == 0 {
				continue
			}
			m.Text = ""
		}
		m.Text = edits.Text(m.ItemID, m.Generation, m.Text)
		if len(m.Calls) > 0 {
			m.Calls = slices.DeleteFunc(slices.Clone(m.Calls), func(c MessageCall) bool { return edits.Removed(c.ItemID, m.Generation) })
		}
		left = append(left, m)
	}
	return left
}
