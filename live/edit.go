package live

import (
	"context"
	"slices"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
)

// maxDeferred bounds the deferred commands of an answer.
const maxDeferred = 64

// deferUntilRecorded defers a command about an item of the answer in progress, which can be edited
// once it is recorded; false when the item is of another answer.
func (e *engine) deferUntilRecorded(live *Live, item, commandID string, command Command) bool {
	if e.current == nil || !slices.Contains(e.current.items, item) {
		return false
	}
	if len(e.current.deferred) >= maxDeferred {
		live.push(Failed{CommandID: commandID, Err: fault.New(fault.RateLimitedReason,
			"Too many commands wait for the answer in progress. Wait for its end.")})
		return true
	}
	e.current.deferred = append(e.current.deferred, deferredCommand{live: live, command: command})
	return true
}

// deferUntilRemoval defers a command whose item gets the id of an item that a deferred Remove will
// remove.
func (e *engine) deferUntilRemoval(live *Live, command Command) bool {
	id, commandID := chosenID(command)
	if id == "" || e.current == nil {
		return false
	}
	removes := func(deferred deferredCommand) bool {
		removal, ok := deferred.command.(Remove)
		return ok && removal.ItemID == id
	}
	return slices.ContainsFunc(e.current.deferred, removes) && e.deferUntilRecorded(live, id, commandID, command)
}

// retrieve sends a socket an item of any age.
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

// remove hides an item from the model.
func (e *engine) remove(live *Live, c Remove) {
	if e.deferUntilRecorded(live, c.ItemID, c.CommandID, c) {
		return
	}
	change := func(item sessions.Item, edit *sessions.ItemEdit) error {
		if item.ID == "" {
			return fault.Wrap(ErrNothingToRemove, fault.InvalidRequest, "There is no item with that id.")
		}
		edit.Removed = true
		return nil
	}
	if e.editItem(live, c.CommandID, editParams{item: c.ItemID, change: change}) {
		e.sendEdit(live, c.CommandID, c.ItemID, e.session.ItemEdits[c.ItemID])
	}
}

// truncate cuts a spoken item to what the user heard.
func (e *engine) truncate(live *Live, c Truncate) {
	if run := e.current; run != nil && c.HeardText != nil && slices.Contains(run.items, c.ItemID) {
		run.cut(c.ItemID, heardCut(e.session, c.AudioEndMS, *c.HeardText)) // the session may end with the answer
	}
	if e.deferUntilRecorded(live, c.ItemID, c.CommandID, c) {
		return
	}
	change := func(item sessions.Item, edit *sessions.ItemEdit) error { return cutItem(e.session, c, item, edit) }
	if e.editItem(live, c.CommandID, editParams{item: c.ItemID, change: change, heard: c.HeardText != nil}) {
		e.sendEdit(live, c.CommandID, c.ItemID, e.session.ItemEdits[c.ItemID])
	}
}

// cutItem cuts an item. Errors: of one that cannot be cut, or not there.
func cutItem(session sessions.Session, c Truncate, item sessions.Item, edit *sessions.ItemEdit) error {
	switch {
	case item.ID == "":
		return fault.Wrap(ErrNothingToTruncate, fault.InvalidRequest, "There is no item with that id.")
	case item.Kind == sessions.UserItem && item.Audio != nil:
		return fault.InvalidField("item_id", "not_audio", "Only audio of the agent can be truncated; this item is the user's.")
	case item.Kind != sessions.AssistantItem || item.Audio == nil && c.HeardText == nil:
		return fault.InvalidField("item_id", "not_audio", "Only audio of the agent can be truncated; this item is text.")
	case c.AudioEndMS < 0:
		return fault.InvalidField("audio_end_ms", "range", "audio_end_ms is 0 or more.")
	case c.HeardText == nil && item.Audio.LengthMS > 0 && c.AudioEndMS > item.Audio.LengthMS:
		return fault.InvalidField("audio_end_ms", "range", "Audio content of %dms is already shorter than %dms.",
			item.Audio.LengthMS, c.AudioEndMS)
	}
	text := item.Text
	if c.HeardText != nil {
		text = *c.HeardText
	} else if item.Audio.LengthMS > 0 {
		text = heardText(item.Text, item.Audio.LengthMS, c.AudioEndMS)
	}
	cut := heardCut(session, c.AudioEndMS, text)
	edit.Cut = &cut
	return nil
}

// heardCut is the place where the user stopped listening.
func heardCut(session sessions.Session, audioEndMS int, text string) sessions.Cut {
	if session.KeepsNothing() {
		return sessions.Cut{AudioEndMS: audioEndMS, Chars: utf8.RuneCountInString(text)}
	}
	return sessions.Cut{AudioEndMS: audioEndMS, Text: text}
}

// cutHeard is truncate with HeardText for a socket whose conversation has left this node. An item
// that cannot be cut is left as it is, and so is a session that has ended long ago.
func (s *Service) cutHeard(ctx context.Context, session sessions.Session, c Truncate) error {
	change := func(item sessions.Item, edit *sessions.ItemEdit) error { return cutItem(session, c, item, edit) }
	err := s.turns.ReachSession(ctx, session.ID, func(ctx context.Context) error {
		_, err := s.writeEdit(ctx, editParams{session: session, item: c.ItemID, change: change, heard: true})
		return err
	})
	switch fault.ReasonOf(err) {
	case fault.InvalidRequest, fault.SessionClosed, fault.ResourceNotFound:
		return nil // it is as it can be
	default:
		return err
	}
}

// editItem stores an edit; false when it could not, which live has been told.
func (e *engine) editItem(live *Live, commandID string, p editParams) bool {
	p.session, p.from = e.session, e.s.node
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	var edits sessions.ItemEdits
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		edits, err = e.s.writeEdit(ctx, p)
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
