package turns

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
)

// newCall refuses a call's id that the session knows. The session's row is locked.
func newCall(ctx context.Context, tx bun.Tx, session sessions.Session, callID string) error {
	turns, err := sessions.TurnsHolding(ctx, tx, session, callID)
	if err != nil {
		return err
	}
	for _, turn := range turns {
		for _, m := range turn.Messages {
			if slices.ContainsFunc(m.Calls, func(c sessions.MessageCall) bool { return c.ID == callID }) {
				return fault.InvalidField("call_id", "taken", "There is a call with the id %q already.", callID)
			}
		}
	}
	return nil
}
