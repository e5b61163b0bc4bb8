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

// place gives an item that was read its place, unless it has one here. had are those of which that
// was asked.
func (e *engine) placeItem(item sessions.Item, had map[string]bool) {
	if here, asked := had[item.ID]; !asked {
		had[item.ID] = e.items.Has(item.ID)
	} else if item.Again > 0 && !here {
		e.items.Drop(item.ID) // that is the place of the one before it
	}
	e.items.Put(item.ID, item.After)
}

// tell tells a socket of an item. commandID is that of the command it came from.
func (e *engine) sendItem(live *Live, commandID string, item sessions.Item) {
	live.known[item.Key()] = true
	live.push(ItemAdded{CommandID: commandID, Item: item, PreviousItemID: e.items.Put(item.ID, item.After)})
}

// show tells a socket of an item it does not know yet.
func (e *engine) sendItemOnce(live *Live, item sessions.Item) {
	if !live.known[item.Key()] {
		e.sendItem(live, "", item)
	}
}

func (e *engine) sendItemsToOthers(than *Live, items []sessions.Item) {
	for _, live := range e.sockets() {
		if live == than {
			continue
		}
		for _, item := range items {
			e.sendItemOnce(live, item)
		}
	}
}

// showTurn tells the sockets of a turn they did not ask for.
func (e *engine) sendTurn(turn sessions.Turn, asked *Live) {
	items := sessions.VisibleItems(turn, e.session.ItemEdits) // one of them may have been removed since it was said
	for _, item := range items {
		e.items.Put(item.ID, item.After)
	}
	e.sendItemsToOthers(asked, items)
}

// greet says the first_message, which is recorded already.
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

// tellSaid tells the sockets of what was written down.
func (e *engine) sendAccepted(live *Live, commandID string, turn sessions.Turn, said sessions.Message) {
	item := sessions.ItemsOf(sessions.Turn{ID: turn.ID, Index: turn.Index, Messages: []sessions.Message{said}})[0]
	if live != nil {
		e.sendItem(live, commandID, item)
	}
	e.sendItemsToOthers(live, []sessions.Item{item})
}

// refuseSaid tells a socket that what it said was not accepted.
func (e *engine) rejectMessage(ctx context.Context, live *Live, commandID string, err error) {
	decided := postgres.Decide(err)
	level := slog.LevelWarn
	if decided.Kind() == fault.Invalid {
		level = slog.LevelDebug // the client is told, and can do nothing else to our log
	}
	e.s.log.Log(ctx, level, "message not accepted", "session_id", e.id, "error", err)
	if live != nil {
		live.push(Failed{CommandID: commandID, Err: decided})
	}
}

// tellOfEdit tells all sockets what became of an item. by, which may be nil, asked for it.
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

// tellLost ends the answer that a lost node had begun, once a socket.
func (e *engine) sendLostAnswer(live *Live, turn sessions.Turn) {
	if turn.LostResponseID == "" || live.lostResponse == turn.LostResponseID {
		return
	}
	live.lostResponse = turn.LostResponseID
	live.push(AnswerEnded{ResponseID: turn.LostResponseID, TurnID: turn.ID, Status: turns.ResponseFailed, Lost: true, Err: sessions.ErrLost()})
}
