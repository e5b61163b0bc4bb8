package live

import (
	"context"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// A client changes an item by removing it and putting one with the same id in its place. The one
// that was removed keeps its id in the transcript: the two are told apart by Message.Generation,
// and an edit says by ItemEdit.Generation which it is about.

// claim takes an id that a client has chosen, and that no item known here has, for a new one.
func (e *engine) claim(ctx context.Context, id string, said *sessions.Message) *fault.Error {
	var holding []sessions.Turn
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		holding, err = sessions.TurnsWithItem(ctx, e.s.db, e.session, id)
		return err
	})
	edit := e.session.ItemEdits[id]
	if turns.IsOffline(err) && !edit.Removed {
		err = nil // nobody knows better
	}
	if err != nil {
		return postgres.Decide(err)
	}
	if _, taken := findItem(holding, e.session.ItemEdits, id); taken {
		return errItemTaken()
	}
	if edit.Removed {
		if edit, err = e.renew(ctx, id); err != nil {
			return postgres.Decide(err)
		}
	}
	said.Generation = edit.Generation
	return nil
}

// renew writes down that the next item of an id is another one than those that were removed.
func (e *engine) renew(ctx context.Context, id string) (sessions.ItemEdit, error) {
	var edits sessions.ItemEdits
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		edits, err = e.s.editItem(ctx, e.session, id, func(item sessions.Item, edit *sessions.ItemEdit) error {
			if item.ID != "" { // another node was quicker
				return errItemTaken()
			}
			if edit.Removed {
				*edit = sessions.ItemEdit{Generation: edit.Generation + 1}
			}
			return nil
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

func errItemTaken() *fault.Error {
	return fault.Wrap(ErrItemTaken, fault.InvalidRequest, "There is an item with that id already.")
}

// awaitsRemoval keeps a command for the end of the answer that is going out when the id it takes is
// that of an item which is removed then.
func (e *engine) awaitsRemoval(live *Live, command Command) bool {
	id, commandID := chosenID(command)
	if id == "" || e.current == nil {
		return false
	}
	removes := func(waits commanded) bool {
		removal, ok := waits.command.(Remove)
		return ok && removal.ItemID == id
	}
	return slices.ContainsFunc(e.current.behind, removes) && e.goingOut(live, id, commandID, command)
}

// chosenID is the id that a client has chosen for the item it puts in; empty: none.
func chosenID(command Command) (id, commandID string) {
	switch c := command.(type) {
	case UserMessage:
		return c.ItemID, c.CommandID
	case ToolOutput:
		return c.ItemID, c.CommandID
	case Insert:
		return c.ItemID, c.CommandID
	case Ask:
		return c.Said.ItemID, c.Said.CommandID
	}
	return "", ""
}
