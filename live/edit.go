package live

import (
	"context"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
)

const (
	// maxBehind bounds the commands about an answer's items that wait for its end.
	maxDeferred = 64
	// maxInsertedArguments bounds the arguments of a call that a client puts in.
	maxInsertedArguments = 64 << 10
	maxToolNameBytes     = 128
)

// goingOut says that the item belongs to the answer that is going out, which is not recorded yet:
// the command is kept for then.
func (e *engine) deferUntilRecorded(live *Live, item, commandID string, command Command) bool {
	if e.current == nil || !slices.Contains(e.current.items, item) {
		return false
	}
	if len(e.current.deferred) >= maxDeferred {
		live.push(Failed{CommandID: commandID, Err: fault.New(fault.RateLimitedReason, "Too many commands wait for the answer that is going out. Wait for its end.")})
		return true
	}
	e.current.deferred = append(e.current.deferred, commandReceived{live: live, command: command})
	return true
}

// awaitsRemoval keeps a command for the end of the answer that is going out when the id it takes is
// that of an item which is removed then.
func (e *engine) deferUntilRemoval(live *Live, command Command) bool {
	id, commandID := chosenID(command)
	if id == "" || e.current == nil {
		return false
	}
	removes := func(waits commandReceived) bool {
		removal, ok := waits.command.(Remove)
		return ok && removal.ItemID == id
	}
	return slices.ContainsFunc(e.current.deferred, removes) && e.deferUntilRecorded(live, id, commandID, command)
}

// retrieve shows a socket an item that it need not know.
func (e *engine) retrieve(live *Live, c Retrieve) {
	if e.deferUntilRecorded(live, c.ItemID, c.CommandID, c) {
		return
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	item, found, err := e.findItem(ctx, c.ItemID)
	if err == nil && !found {
		err = fault.Wrap(ErrNothingToRetrieve, fault.InvalidRequest, "There is no item with that id.")
	}
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: postgres.Decide(err)})
		return
	}
	live.push(ItemRetrieved{CommandID: c.CommandID, Item: item})
}

// remove takes an item out of the model's sight.
func (e *engine) remove(live *Live, c Remove) {
	if e.deferUntilRecorded(live, c.ItemID, c.CommandID, c) {
		return
	}
	edit := func(item sessions.Item, edit *sessions.ItemEdit) error {
		if item.ID == "" {
			return fault.Wrap(ErrNothingToRemove, fault.InvalidRequest, "There is no item with that id.")
		}
		edit.Removed = true
		return nil
	}
	if e.editItem(live, c.CommandID, c.ItemID, edit) {
		e.sendEdit(live, c.CommandID, c.ItemID, e.session.ItemEdits[c.ItemID])
	}
}

// truncate cuts a spoken item to what was heard.
func (e *engine) truncate(live *Live, c Truncate) {
	if e.deferUntilRecorded(live, c.ItemID, c.CommandID, c) {
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
	if e.editItem(live, c.CommandID, c.ItemID, edit) {
		e.sendEdit(live, c.CommandID, c.ItemID, e.session.ItemEdits[c.ItemID])
	}
}

// edit writes an edit down; false when it could not, which live has been told.
func (e *engine) editItem(live *Live, commandID, item string, change func(sessions.Item, *sessions.ItemEdit) error) bool {
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	var edits sessions.ItemEdits
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		edits, err = e.writeEdit(ctx, item, change)
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
