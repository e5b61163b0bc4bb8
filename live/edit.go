package live

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

const (
	// maxBehind bounds the commands about an answer's items that wait for its end.
	maxBehind = 64
	// maxInsertedArguments bounds the arguments of a call that a client puts in.
	maxInsertedArguments = 64 << 10
	maxToolNameBytes     = 128
)

// insert takes an item that a client puts into what the model sees.
func (e *engine) insert(live *Live, c Insert) {
	said := sessions.Message{ItemID: c.ItemID, After: c.After, Text: c.Text}
	var err *fault.Error
	switch c.Kind {
	case sessions.SystemItem:
		said.Role = sessions.RoleSystem
	case sessions.AssistantItem:
		said.Role, said.Inserted = sessions.RoleAssistant, true
	case sessions.ClientToolCallItem:
		said, err = insertedCall(c)
	case sessions.UserItem, sessions.ToolItem, sessions.ToolOutputItem:
		err = fault.InvalidField("type", "unknown", "Notes, words of the agent and calls can be put in, not items of the kind %s.", c.Kind)
	default:
		err = fault.InvalidField("type", "unknown", "There is no kind of item %q.", c.Kind)
	}
	if err == nil && len(said.Calls) == 0 && !turns.IsSayable(said.Text) {
		err = turns.ErrTextLength()
	}
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
	e.accept(live, c.CommandID, said)
}

// insertedCall is a call that the agent is to have made.
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
	case len(call.Arguments) > maxInsertedArguments || bytes.Contains(call.Arguments, []byte(`\u0000`)) || json.Unmarshal(call.Arguments, &object) != nil || object == nil:
		return sessions.Message{}, fault.InvalidField("arguments", "json", "arguments is a JSON object of at most %d bytes, without the character U+0000.", maxInsertedArguments)
	}
	return sessions.Message{Role: sessions.RoleAssistant, Inserted: true, After: c.After, Calls: []sessions.MessageCall{call}}, nil
}

// goingOut says that the item belongs to the answer that is going out, which is not recorded yet:
// the command is kept for then.
func (e *engine) goingOut(live *Live, item, commandID string, command Command) bool {
	if e.current == nil || !slices.Contains(e.current.items, item) {
		return false
	}
	if len(e.current.behind) >= maxBehind {
		live.push(Failed{CommandID: commandID, Err: fault.New(fault.RateLimitedReason, "Too many commands wait for the answer that is going out. Wait for its end.")})
		return true
	}
	e.current.behind = append(e.current.behind, commanded{live: live, command: command})
	return true
}

// retrieve shows a socket an item that it need not know.
func (e *engine) retrieve(live *Live, c Retrieve) {
	if e.goingOut(live, c.ItemID, c.CommandID, c) {
		return
	}
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	item, found, err := e.item(ctx, c.ItemID)
	if err == nil && !found {
		err = fault.Wrap(ErrNothingToRetrieve, fault.InvalidRequest, "There is no item with that id.")
	}
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: postgres.Decide(err)})
		return
	}
	live.push(ItemRetrieved{CommandID: c.CommandID, Item: item})
}

// item is an item of the conversation as the model sees it; false when there is none, or it was
// removed.
func (e *engine) item(ctx context.Context, id string) (sessions.Item, bool, error) {
	turns, err := sessions.TurnsWithItem(ctx, e.s.db, e.session, id)
	if err != nil {
		return sessions.Item{}, false, err
	}
	found, ok := findItem(turns, e.session.ItemEdits, id)
	found.Text = e.session.ItemEdits.Text(found.ID, found.Generation, found.Text)
	return found, ok, nil
}

// remove takes an item out of the model's sight.
func (e *engine) remove(live *Live, c Remove) {
	if e.goingOut(live, c.ItemID, c.CommandID, c) {
		return
	}
	edit := func(item sessions.Item, edit *sessions.ItemEdit) error {
		if item.ID == "" {
			return fault.Wrap(ErrNothingToRemove, fault.InvalidRequest, "There is no item with that id.")
		}
		edit.Removed = true
		return nil
	}
	if e.edit(live, c.CommandID, c.ItemID, edit) {
		e.tellOfEdit(live, c.CommandID, c.ItemID, e.session.ItemEdits[c.ItemID])
	}
}

// truncate cuts a spoken item to what was heard.
func (e *engine) truncate(live *Live, c Truncate) {
	if e.goingOut(live, c.ItemID, c.CommandID, c) {
		return
	}
	edit := func(item sessions.Item, edit *sessions.ItemEdit) error {
		switch {
		case item.ID == "":
			return fault.Wrap(ErrNothingToTruncate, fault.InvalidRequest, "There is no item with that id.")
		case item.Kind == sessions.UserItem && item.Audio != nil:
			return fault.InvalidField("item_id", "not_audio", "Only audio of the agent can be truncated; this item is the user's.")
		case item.Kind != sessions.AssistantItem || item.Audio == nil:
			return fault.InvalidField("item_id", "not_audio", "Only audio of the agent can be truncated; this item is text.")
		case c.AudioEndMS < 0:
			return fault.InvalidField("audio_end_ms", "range", "audio_end_ms is 0 or more.")
		case item.Audio.LengthMS > 0 && c.AudioEndMS > item.Audio.LengthMS:
			return fault.InvalidField("audio_end_ms", "range", "Audio content of %dms is already shorter than %dms.", item.Audio.LengthMS, c.AudioEndMS)
		}
		edit.Cut = &sessions.Cut{AudioEndMS: c.AudioEndMS, Text: item.Text}
		if item.Audio.LengthMS > 0 {
			edit.Cut.Text = heardText(item.Text, item.Audio.LengthMS, c.AudioEndMS)
		}
		return nil
	}
	if e.edit(live, c.CommandID, c.ItemID, edit) {
		e.tellOfEdit(live, c.CommandID, c.ItemID, e.session.ItemEdits[c.ItemID])
	}
}

// edit writes an edit down; false when it could not, which live has been told.
func (e *engine) edit(live *Live, commandID, item string, change func(sessions.Item, *sessions.ItemEdit) error) bool {
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	var edits sessions.ItemEdits
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		edits, err = e.s.editItem(ctx, e.session, item, change)
		return err
	})
	if err != nil {
		live.push(Failed{CommandID: commandID, Err: postgres.Decide(err)})
		return false
	}
	e.session.ItemEdits = edits
	e.cache.Edited(edits)
	return true
}

// tellOfEdit tells all sockets what became of an item. by, which may be nil, asked for it.
func (e *engine) tellOfEdit(by *Live, commandID, item string, edit sessions.ItemEdit) {
	if edit.Removed {
		e.items.Drop(item)
	}
	for _, live := range e.all() {
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

// adopt takes over what other nodes did to items. What is not among the edits was done here since
// they were read.
func (e *engine) adopt(edits sessions.ItemEdits) {
	before := e.session.ItemEdits
	e.session.ItemEdits = edits.MergedAfter(before)
	e.cache.Edited(e.session.ItemEdits)
	for item, edit := range e.session.ItemEdits {
		old := before[item]
		if edit.Generation > old.Generation {
			if !old.Removed { // both came between two looks
				e.tellOfEdit(nil, "", item, sessions.ItemEdit{Removed: true})
			}
			old = sessions.ItemEdit{}
		}
		if edit.Removed != old.Removed || (edit.Cut != nil && (old.Cut == nil || *edit.Cut != *old.Cut)) {
			e.tellOfEdit(nil, "", item, edit)
		}
	}
}

// knows says whether an item can be put behind the one of this id.
func (e *engine) knows(ctx context.Context, id string) bool {
	if id == "" || id == sessions.AtFront || e.items.Has(id) {
		return true
	}
	turns, err := sessions.TurnsWithItem(ctx, e.s.db, e.session, id) // older, or another node's
	if err != nil {
		return false
	}
	_, found := findItem(turns, e.session.ItemEdits, id)
	if found {
		e.items.Put(id, "")
	}
	return found
}

// editItem changes what is known of an item, in the session's row, and tells the other nodes.
// change gets an Item without id when there is none. It may run twice.
func (s *Service) editItem(ctx context.Context, session sessions.Session, id string, change func(sessions.Item, *sessions.ItemEdit) error) (sessions.ItemEdits, error) {
	var edits sessions.ItemEdits
	err := s.sessions.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if err := sessions.CheckOpen(*row); err != nil {
			return err
		}
		held, err := sessions.TurnsWithItem(ctx, tx, *row, id)
		if err != nil {
			return err
		}
		item, _ := findItem(held, row.ItemEdits, id)
		edit := row.ItemEdits[id]
		if err := change(item, &edit); err != nil {
			return err
		}
		if edits = maps.Clone(row.ItemEdits); edits == nil {
			edits = sessions.ItemEdits{}
		}
		edits[id] = edit
		row.ItemEdits = edits
		if err := sessions.Update(ctx, tx, *row, "item_edits"); err != nil {
			return err
		}
		if slices.ContainsFunc(held, func(t sessions.Turn) bool { return t.Index < row.SummarizedTurns }) {
			if err := turns.ForgetSummary(ctx, tx, row); err != nil { // it may tell of the item
				return err
			}
		}
		return sessions.Notify(ctx, tx, sessions.Notice{Kind: sessions.NoticeItem, Session: row.ID, From: s.node})
	})
	return edits, err
}

// findItem is an item of the turns as it was said, unless it was removed.
func findItem(turns []sessions.Turn, edits sessions.ItemEdits, id string) (sessions.Item, bool) {
	for _, turn := range turns {
		for _, item := range sessions.ItemsOf(turn) {
			if item.ID == id && !edits.Removed(id, item.Generation) {
				return item, true
			}
		}
	}
	return sessions.Item{}, false
}
