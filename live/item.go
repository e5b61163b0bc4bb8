package live

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// itemIn returns an item of the turns as it was said, unless it was removed.
func itemIn(turns []sessions.Turn, edits sessions.ItemEdits, id string) (sessions.Item, bool) {
	for _, turn := range turns {
		for _, item := range sessions.ItemsOf(turn) {
			if item.ID == id && !edits.Removed(id, item.Generation) {
				return item, true
			}
		}
	}
	return sessions.Item{}, false
}

// findItem returns an item of the conversation as the model sees it; false when there is none, or
// it was removed.
func (e *engine) findItem(ctx context.Context, id string) (sessions.Item, bool, error) {
	turns, err := sessions.TurnsWithItem(ctx, e.s.db, e.session, id)
	if err == nil {
		turns, err = e.s.sessions.OpenTurns(ctx, e.session, turns)
	}
	if err != nil {
		return sessions.Item{}, false, err
	}
	found, ok := itemIn(turns, e.session.ItemEdits, id)
	found.Text = e.session.ItemEdits.Text(found.ID, found.Generation, found.Text)
	return found, ok, nil
}

// itemExists reports whether another item can be inserted after id.
func (e *engine) itemExists(ctx context.Context, id string) bool {
	if id == "" || id == sessions.AtFront || e.items.Has(id) {
		return true
	}
	turns, err := sessions.TurnsWithItem(ctx, e.s.db, e.session, id) // an older item, or another node's
	if err != nil {
		return false
	}
	_, found := itemIn(turns, e.session.ItemEdits, id)
	if found {
		e.items.Put(id, "")
	}
	return found
}

// assignItemID generates an item id for a message that has none. Otherwise it checks the id and the
// place that the client chose, and claims the id.
func (e *engine) assignItemID(ctx context.Context, message *sessions.Message) *fault.Error {
	id := &message.ItemID
	if len(message.Calls) == 1 {
		id = &message.Calls[0].ItemID
	}
	chosen := *id != ""
	switch {
	case !chosen:
		*id = idgen.New(idgen.Item)
	case len(*id) > turns.MaxItemIDBytes || !sessions.IsStorable(*id) || *id == sessions.AtFront:
		return fault.InvalidField("id", "length", "An item's id has at most %d bytes, and is not %q.",
			turns.MaxItemIDBytes, sessions.AtFront)
	case e.items.Has(*id):
		return errItemTaken()
	}
	if len(message.After) > turns.MaxItemIDBytes || !sessions.IsStorable(message.After) || !e.itemExists(ctx, message.After) {
		return fault.Wrap(ErrNoPlace, fault.InvalidRequest, "There is no item with that id to insert another after.")
	}
	if chosen {
		return e.claimItemID(ctx, *id, message)
	}
	return nil
}

// A client changes an item by removing it and adding one with the same id. The removed item keeps
// its id in the transcript. Message.Generation tells the two apart, and ItemEdit.Generation says
// which of them an edit is about.

// claimItemID checks that no item in Postgres has the id that a client chose for a new one.
func (e *engine) claimItemID(ctx context.Context, id string, message *sessions.Message) *fault.Error {
	var holding []sessions.Turn
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		holding, err = sessions.TurnsWithItem(ctx, e.s.db, e.session, id)
		return err
	})
	edit := e.session.ItemEdits[id]
	if turns.IsOffline(err) && !edit.Removed {
		err = nil // the items known on this node must do
	}
	if err != nil {
		return postgres.Decide(err)
	}
	if _, taken := itemIn(holding, e.session.ItemEdits, id); taken {
		return errItemTaken()
	}
	if edit.Removed {
		if edit, err = e.reuseItemID(ctx, id); err != nil {
			return postgres.Decide(err)
		}
	}
	message.Generation = edit.Generation
	return nil
}

// reuseItemID records that the next item with the id is another one than the removed ones.
func (e *engine) reuseItemID(ctx context.Context, id string) (sessions.ItemEdit, error) {
	var edits sessions.ItemEdits
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		edits, err = e.s.writeEdit(ctx, editParams{
			session: e.session, from: e.s.node, item: id, change: func(item sessions.Item, edit *sessions.ItemEdit) error {
				if item.ID != "" { // another node has added one
					return errItemTaken()
				}
				if edit.Removed {
					*edit = sessions.ItemEdit{Generation: edit.Generation + 1}
				}
				return nil
			},
		})
		return err
	})
	if err != nil {
		return sessions.ItemEdit{}, err
	}
	e.session.ItemEdits = edits
	e.cache.Edited(edits)
	return edits[id], nil
}

// editParams are a change of an item's edit.
type editParams struct {
	session sessions.Session
	// from is the node that is not notified; empty: all are.
	from string
	item string
	// change gets an Item without id when no item has the id. It may run twice.
	change func(sessions.Item, *sessions.ItemEdit) error
	// heard says that the change is what was heard of the item.
	heard bool
}

// heardWithin is how long after a session's end it may be noted what was heard of its items: a
// farewell is said for a minute at most, and the database may be slow.
const heardWithin = 2 * time.Minute

// check returns session-closed when the session does not take the change any more.
func (p editParams) check(row sessions.Session, now time.Time) error {
	if p.heard && row.ItemEdits[p.item].Cut == nil && (!row.Closed() || now.Sub(row.EndedAt) < heardWithin) {
		return nil
	}
	return sessions.CheckOpen(row)
}

// writeEdit changes an item's edit in the session's row and notifies the nodes.
func (s *Service) writeEdit(ctx context.Context, p editParams) (sessions.ItemEdits, error) {
	of, id, now := p.session, p.item, s.sessions.Now()
	var edits sessions.ItemEdits
	err := s.sessions.Locked(ctx, of.TenantID, of.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if err := p.check(*row, now); err != nil {
			return err
		}
		holding, err := sessions.TurnsWithItem(ctx, tx, *row, id)
		if err == nil {
			holding, err = s.sessions.OpenTurns(ctx, *row, holding)
		}
		if err != nil {
			return err
		}
		item, _ := itemIn(holding, row.ItemEdits, id)
		edit := row.ItemEdits[id]
		if err := p.change(item, &edit); err != nil {
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
		if slices.ContainsFunc(holding, func(t sessions.Turn) bool { return t.Index < row.SummarizedTurns }) {
			if err := turns.ForgetSummary(ctx, tx, row); err != nil { // the summary may mention the item
				return err
			}
		}
		return sessions.Notify(ctx, tx, sessions.Notice{Kind: sessions.NoticeItem, Session: row.ID, From: p.from})
	})
	return edits, err
}

// mergeEdits merges the edits of other nodes. Edits that it does not find among them were made here
// after they were read.
func (e *engine) mergeEdits(edits sessions.ItemEdits) {
	before := e.session.ItemEdits
	e.session.ItemEdits = edits.MergedAfter(before)
	e.cache.Edited(e.session.ItemEdits)
	for item, edit := range e.session.ItemEdits {
		old := before[item]
		if edit.Generation > old.Generation {
			if !old.Removed { // the item was removed and added again since the edits were last read
				e.sendEdit(nil, "", item, sessions.ItemEdit{Removed: true})
			}
			old = sessions.ItemEdit{}
		}
		if edit.Removed != old.Removed || (edit.Cut != nil && (old.Cut == nil || *edit.Cut != *old.Cut)) {
			e.sendEdit(nil, "", item, edit)
		}
	}
}
