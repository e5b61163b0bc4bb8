package live

import (
	"context"
	"log/slog"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// placeItem gives an item that a joining socket has read its place, unless it has one. placed says
// of each id seen so far whether it had a place before.
func (e *engine) placeItem(item sessions.Item, placed map[string]bool) {
	if before, seen := placed[item.ID]; !seen {
		placed[item.ID] = e.items.Has(item.ID)
	} else if item.Generation > 0 && !before {
		e.items.Drop(item.ID) // the place is that of the removed item with this id
	}
	e.items.Put(item.ID, item.After)
}

// sendItem sends an item to a socket. commandID is the command that added it; may be empty.
func (e *engine) sendItem(live *Live, commandID string, item sessions.Item) {
	live.known[item.Key()] = true
	live.push(ItemAdded{CommandID: commandID, Item: item, PreviousItemID: e.items.Put(item.ID, item.After)})
}

// sendItemOnce sends an item to a socket that has not got it.
func (e *engine) sendItemOnce(live *Live, item sessions.Item) {
	if !live.known[item.Key()] {
		e.sendItem(live, "", item)
	}
}

// sendItemsToOthers sends items to the sockets other than except, which may be nil.
func (e *engine) sendItemsToOthers(except *Live, items []sessions.Item) {
	for _, live := range e.sockets() {
		if live == except {
			continue
		}
		for _, item := range items {
			e.sendItemOnce(live, item)
		}
	}
}

// sendTurn sends a turn's items to the sockets other than asked, which has had its events.
func (e *engine) sendTurn(turn sessions.Turn, asked *Live) {
	items := sessions.VisibleItems(turn, e.session.ItemEdits) // without those removed meanwhile
	for _, item := range items {
		e.items.Put(item.ID, item.After)
	}
	e.sendItemsToOthers(asked, items)
}

// sendGreeting sends the first_message of a stored greeting.
func (e *engine) sendGreeting(live *Live, turn sessions.Turn) {
	response, item := idgen.New(idgen.Response), turn.Messages[0].ItemID
	live.push(turns.ResponseStarted{ResponseID: response, TurnID: turn.ID, TurnIndex: turn.Index, Greeting: true})
	live.push(turns.MessageStarted{ResponseID: response, ItemID: item})
	live.push(turns.TextDelta{ResponseID: response, ItemID: item, Text: turn.AgentText})
	live.push(turns.MessageDone{ResponseID: response, ItemID: item, Text: turn.AgentText})
	items := sessions.ItemsOf(turn)
	live.push(turns.ResponseDone{ResponseID: response, TurnID: turn.ID, Status: turns.ResponseCompleted, Items: items, Text: turn.AgentText})
	live.known[item] = true
	e.items.Put(item, "")
}

// sendAccepted sends a stored message to the sockets. live, which may be nil, sent it with
// commandID.
func (e *engine) sendAccepted(live *Live, commandID string, turn sessions.Turn, said sessions.Message) {
	item := sessions.ItemsOf(sessions.Turn{ID: turn.ID, Index: turn.Index, Messages: []sessions.Message{said}})[0]
	if live != nil {
		e.sendItem(live, commandID, item)
	}
	e.sendItemsToOthers(live, []sessions.Item{item})
}

// rejectMessage tells a socket why its message was not stored. live may be nil.
func (e *engine) rejectMessage(ctx context.Context, live *Live, commandID string, err error) {
	decided := postgres.Decide(err)
	level := slog.LevelWarn
	if decided.Kind() == fault.Invalid {
		level = slog.LevelDebug // the client's mistake, which it is told
	}
	e.s.log.Log(ctx, level, "message not accepted", "session_id", e.id, "error", err)
	if live != nil {
		live.push(Failed{CommandID: commandID, Err: decided})
	}
}

// sendEdit tells all sockets about an edit. by, which may be nil, asked for it with commandID.
func (e *engine) sendEdit(by *Live, commandID, item string, edit sessions.ItemEdit) {
	if edit.Removed {
		e.items.Drop(item)
	}
	for _, live := range e.sockets() {
		id := ""
		if live == by {
			id = commandID
		}
		switch {
		case edit.Removed:
			live.push(ItemRemoved{CommandID: id, ItemID: item})
		case edit.Cut != nil:
			live.push(ItemTruncated{CommandID: id, ItemID: item, AudioEndMS: edit.Cut.AudioEndMS, Text: edit.Cut.Text})
		}
	}
}

// sendLostAnswer tells a socket, once, that the node that gave the turn's answer was lost.
func (e *engine) sendLostAnswer(live *Live, turn sessions.Turn) {
	if turn.LostResponseID == "" || live.lostResponse == turn.LostResponseID {
		return
	}
	live.lostResponse = turn.LostResponseID
	live.push(AnswerEnded{ResponseID: turn.LostResponseID, TurnID: turn.ID, Status: turns.ResponseFailed, Lost: true, Err: sessions.ErrLost()})
}
