package pgstore

import (
	"context"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// AddResults implements turns.Store.
func (s *Store) AddResults(ctx context.Context, p turns.ResultParams) error {
	return s.sessions.Locked(ctx, p.Session.TenantID, p.Session.ID, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		turn, err := sessions.FindTurn(ctx, tx, *session, p.Turn)
		if err != nil {
			return err
		}
		changed := false
		for _, result := range p.Results {
			changed = replaceUnknown(turn.Messages, result) || changed
		}
		if !changed {
			return nil
		}
		if err := sessions.RewriteMessages(ctx, tx, turn); err != nil || len(p.Assigned) == 0 || session.Closed() {
			return err
		}
		turns.MergeAssigned(session, p.Assigned)
		return sessions.Update(ctx, tx, *session, "assigned_variables")
	})
}

// replaceUnknown puts a result where the call's unknown one is.
func replaceUnknown(messages []sessions.Message, result sessions.Message) bool {
	for i, m := range messages {
		if m.Role == sessions.RoleTool && m.CallID == result.CallID && m.Result != nil && m.Result.ErrorCode == sessions.CodeUnknown {
			messages[i] = result
			return true
		}
	}
	return false
}
