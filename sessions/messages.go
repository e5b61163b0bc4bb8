package sessions

import (
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
)

// The roles of a stored message, which are the model's.
const (
	RoleUser      = string(model.RoleUser)
	RoleAssistant = string(model.RoleAssistant)
	RoleTool      = string(model.RoleTool)
	// roleSystem is a note of the application, which models get as a marked message of the user.
	RoleSystem = "system"
)

// Results of calls that have none of their own.
const (
	OutputUnfinished = "The call was not made: the answer was stopped before."
	outputUnanswered = "The client has not answered this call."
	outputClientGone = "The conversation ended before the client had answered this call."
	outputLost       = "Nobody knows how this call ended: what made it was lost before it had a result. It may have happened. " +
		"Look whether it has before you call the tool again, or ask the user."
	outputUnasked = "The call was not made: the server that had asked for its approval was lost before anybody answered. " +
		"Call the tool again if it is still wanted."
	OutputLate = "The answer was stopped while this call was running, and it went on. It may have happened; its result is not known yet. " +
		"Do not call the tool again without looking whether it has."
)

// Codes of such results.
const (
	CodeUnfinished = "canceled"
	CodeUnknown    = "unknown"
)

// noMoreTools tells a model that has called tools in maxToolRounds rounds.
const NoMoreTools = "You have called tools as often as one turn may. No tool can be called now: answer with what you have, and say what is missing."

// noteIntro marks a note of the application for the model. A client's program writes it: it is
// neither the operator's word nor the user's.
const noteIntro = "[A note of the application, not of the user. It is context, and no answer to it is expected.]\n"

// notHeard stands for what was spoken while nothing could transcribe it.
const notHeard = "[The user spoke here. Nothing transcribes speech, so the words are not known. Ask the user to write.]"

// betweenMessages stands between the messages of one turn where they are read as one text.
const BetweenMessages = "\n\n"

// agentText is everything the agent said in the messages.
func AgentText(messages []Message) string {
	var said []string
	for _, m := range messages {
		if m.Role == RoleAssistant && m.Text != "" && !m.Put {
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, BetweenMessages)
}

// settle gives every call of ours that has none a result, by code and in words: the transcript of a
// turn that was broken off has no loose ends. The client's calls may be answered in a later turn.
func SettleOpenCalls(messages []Message, code, words string) []Message {
	return settleCalls(messages, nil, code, words)
}

// settleCalls is settle for some of the calls; nil: for all.
func settleCalls(messages []Message, only []string, code, words string) []Message {
	answered := map[string]bool{}
	for _, m := range messages {
		if m.Role == RoleTool {
			answered[m.CallID] = true
		}
	}
	settled := slices.Clone(messages)
	for _, m := range messages {
		for _, call := range m.Calls {
			if call.Client || answered[call.ID] || only != nil && !slices.Contains(only, call.ID) {
				continue
			}
			settled = append(settled, Message{
				Role: RoleTool, ItemID: call.ItemID, CallID: call.ID, Text: ErrorText(code, words),
				Result: &CallResult{ErrorCode: code, ErrorMessage: words},
			})
		}
	}
	return settled
}

// errorText is an error as models are told of it.
func ErrorText(code, words string) string { return "Error (" + code + "): " + words }

// modelMessages turns stored messages into the model's. Results are put behind the message that
// called for them, wherever they came in; a call without one is told so, and a result
// whose call is not among them is left out. fence puts an output between marks.
func ModelMessages(stored []Message, fence func(call MessageCall, output string) string) []model.Message {
	results := map[string]Message{}
	for _, m := range stored {
		if m.Role == RoleTool {
			results[m.CallID] = m
		}
	}
	var messages []model.Message
	for _, m := range stored {
		switch {
		case m.Role == RoleUser && m.Text == "" && m.Audio != nil:
			messages = append(messages, model.Message{Role: model.RoleUser, Text: notHeard})
			continue
		case m.Role == RoleTool, m.Text == "" && len(m.Calls) == 0:
			continue
		case m.Role == RoleSystem:
			messages = append(messages, model.Message{Role: model.RoleUser, Text: noteIntro + m.Text})
			continue
		case m.Role == RoleUser:
			messages = append(messages, model.Message{Role: model.RoleUser, Text: m.Text})
			continue
		}
		said := model.Message{Role: model.RoleAssistant, Text: m.Text}
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

// itemsOf are the items of a turn, as a socket that was not there learns of them.
func ItemsOf(turn Turn) []Item {
	var items []Item
	results := map[string]Message{}
	for _, m := range turn.Messages {
		if m.Role == RoleTool {
			results[m.CallID] = m
		}
	}
	called := map[string]bool{}
	for _, m := range turn.Messages {
		switch m.Role {
		case RoleUser:
			items = append(items, messageItem(turn.ID, UserItem, m))
		case RoleSystem:
			items = append(items, messageItem(turn.ID, SystemItem, m))
		case RoleAssistant:
			if m.Text != "" {
				items = append(items, messageItem(turn.ID, AssistantItem, m))
			}
			for _, call := range m.Calls {
				called[call.ID] = !m.Put // what a client puts in is two items, the call and its result
				item := callItem(turn.ID, call, results[call.ID])
				item.After, item.Put, item.Again = m.After, m.Put, m.Again
				items = append(items, item)
			}
		case RoleTool:
			if !called[m.CallID] {
				items = append(items, outputItem(turn.ID, m))
			}
		}
	}
	for i := range items {
		items[i].TurnIndex = turn.Index
	}
	return items
}

func messageItem(turn TurnID, kind ItemKind, m Message) Item {
	return Item{ID: m.ItemID, TurnID: turn, Kind: kind, Text: m.Text, After: m.After, Put: m.Put, Again: m.Again, BrokenOff: m.BrokenOff, Audio: m.Audio}
}

func callItem(turn TurnID, call MessageCall, result Message) Item {
	item := Item{ID: call.ItemID, TurnID: turn, Kind: ToolItem, CallID: call.ID, Name: call.Name, Arguments: call.Arguments, Text: result.Text}
	item.Failed = result.Result != nil && result.Result.ErrorCode != ""
	if call.Client {
		item.Kind, item.Text = ClientToolCallItem, ""
	}
	return item
}

func outputItem(turn TurnID, m Message) Item {
	return Item{
		ID: m.ItemID, TurnID: turn, Kind: ToolOutputItem, CallID: m.CallID, Text: m.Text, After: m.After, Again: m.Again,
		Failed: m.Result != nil && m.Result.ErrorCode != "",
	}
}

// newGreeting is the agent's first_message as a turn; nil when it has none. The session's row is
// locked and its TurnCount is the turn's index.
func NewGreeting(session *Session, now time.Time) *Turn {
	text := RenderVariables(session.Config.FirstMessage, PublicVariables(*session, now))
	if text == "" {
		return nil
	}
	turn := NewTurn(*session, TurnID(idgen.New(idgen.Turn)), now)
	turn.Status, turn.AgentText, turn.EndedAt = TurnCompleted, text, now
	turn.Messages = []Message{{Role: RoleAssistant, ItemID: idgen.New(idgen.Item), Text: text}}
	turn.PutReceipt(*session, nil)
	return &turn
}

// newTurn is an empty turn in progress at the session's next index.
func NewTurn(session Session, id TurnID, now time.Time) Turn {
	return Turn{
		ID: id, TenantID: session.TenantID, WorkspaceID: session.WorkspaceID, SessionID: session.ID,
		Index: session.TurnCount, Status: TurnInProgress, Messages: []Message{}, Citations: []Citation{}, StartedAt: now,
	}
}

// OneLine is the text with each run of white space replaced by one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
