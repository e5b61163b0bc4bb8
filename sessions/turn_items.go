package sessions

import (
	"slices"
)

// ItemsOf returns the items of a turn in order.
func ItemsOf(turn Turn) []Item {
	var items []Item
	results := resultsOf(turn.Messages)
	called := map[string]bool{}
	for _, m := range turn.Messages {
		switch m.Role {
		case RoleUser:
			items = append(items, messageItem(turn.ID, UserItem, m))
		case RoleSystem:
			items = append(items, messageItem(turn.ID, SystemItem, m))
		case RoleOperator:
			items = append(items, messageItem(turn.ID, AssistantItem, m))
		case RoleAssistant:
			if m.Text != "" {
				items = append(items, messageItem(turn.ID, AssistantItem, m))
			}
			for _, call := range m.Calls {
				called[call.ID] = !m.Inserted // a client inserts the call and its result as two items
				item := callItem(turn.ID, call, results[call.ID])
				item.After, item.Inserted, item.Generation = m.After, m.Inserted, m.Generation
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
	return Item{
		ID: m.ItemID, TurnID: turn, Kind: kind, Text: m.Text, After: m.After, Inserted: m.Inserted, Generation: m.Generation,
		Interrupted: m.Interrupted, Audio: m.Audio, Operator: m.Operator, Note: m.Note,
	}
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
		ID: m.ItemID, TurnID: turn, Kind: ToolOutputItem, CallID: m.CallID, Text: m.Text, After: m.After, Generation: m.Generation,
		Failed: m.Result != nil && m.Result.ErrorCode != "",
	}
}

// VisibleItems returns a turn's items as clients see them: without removed items and notes of
// operators, and with the heard part of truncated ones.
func VisibleItems(turn Turn, edits ItemEdits) []Item {
	items := slices.DeleteFunc(ItemsOf(turn), func(item Item) bool { return item.Note })
	if len(edits) == 0 {
		return items
	}
	items = slices.DeleteFunc(items, func(item Item) bool { return edits.Removed(item.ID, item.Generation) })
	for i := range items {
		items[i].Text = edits.Text(items[i].ID, items[i].Generation, items[i].Text)
	}
	return items
}

// HeardText returns what the agent said in a turn, without what the listener did not hear; cut says
// that something is left out.
func HeardText(turn Turn, edits ItemEdits) (text string, cut bool) {
	heard := slices.Clone(turn.Messages)
	for i, m := range heard {
		if edit, _ := edits.of(m.ItemID, m.Generation); m.Role == RoleAssistant && edit.Cut != nil {
			heard[i].Text, cut = edit.Cut.heard(m.Text), true
		}
	}
	if !cut {
		return turn.AgentText, false
	}
	return AgentText(heard), true
}

// LatestItems returns the items of several turns, each once. A client's result that arrived in a
// later turn is stored both in that turn and beside its call; the later one remains.
func LatestItems(items []Item) []Item {
	later := map[string]bool{}
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].isLater(later) {
			items = slices.Delete(items, i, i+1)
		}
	}
	return items
}

// isLater reports whether the item is a client's result that is also among the later items, and
// adds it to them.
func (i Item) isLater(later map[string]bool) bool {
	if i.Kind != ToolOutputItem || i.ID == "" {
		return false
	}
	found := later[i.Key()]
	later[i.Key()] = true
	return found
}

// setItems sets the Items of turns, which are in order. A client's result is an item of the turn
// in which it arrived.
func setItems(turns []Turn, edits ItemEdits) {
	later := map[string]bool{}
	for i := len(turns) - 1; i >= 0; i-- {
		turns[i].Items = slices.DeleteFunc(transcriptItems(turns[i], edits), func(item TranscriptItem) bool { return item.isLater(later) })
	}
}

// transcriptItems returns the items of one turn that its texts do not show.
func transcriptItems(turn Turn, edits ItemEdits) []TranscriptItem {
	var kept []TranscriptItem
	for _, item := range ItemsOf(turn) {
		edit, changed := edits.of(item.ID, item.Generation)
		if changed || item.Inserted || item.Operator != "" || item.Kind == SystemItem || item.After != "" || item.Audio != nil {
			kept = append(kept, TranscriptItem{Item: item, ItemEdit: edit})
		}
	}
	return kept
}
