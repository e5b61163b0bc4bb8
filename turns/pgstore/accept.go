package pgstore

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// Accept implements turns.Store.
func (s *Store) Accept(ctx context.Context, p turns.AcceptParams) (turn sessions.Turn, err error) {
	now := s.sessions.Now()
	err = s.sessions.Locked(ctx, p.Session.TenantID, p.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if err := sessions.CheckOpen(*row); err != nil {
			return err
		}
		for _, call := range p.Message.Calls {
			if err := checkNewCall(ctx, tx, *row, call.ID); err != nil {
				return err
			}
		}
		if p.Message.Role == sessions.RoleTool {
			if err := answerCall(ctx, tx, *row, p.Message); err != nil {
				return err
			}
		}
		row.LastActivityAt = now
		if p.Open != "" {
			if turn, err = appendTo(ctx, tx, *row, p.Open, p.Message); err != nil {
				return err
			}
			if turn.Status == sessions.TurnInProgress {
				return sessions.Update(ctx, tx, *row, "last_activity_at")
			}
		}
		turn = sessions.NewTurn(*row, p.New, now)
		turn.Messages = []sessions.Message{p.Message}
		turn.UserText = turns.UserText(turn.Messages)
		row.TurnCount++
		if err := sessions.InsertTurn(ctx, tx, turn); err != nil {
			return err
		}
		return sessions.Update(ctx, tx, *row, "last_activity_at", "turn_count")
	})
	if postgres.IsUnique(err, turnsKey) { // an earlier try has stored it
		return sessions.FindTurn(ctx, s.db, p.Session, p.New)
	}
	return turn, err
}

// turnsKey is the constraint that an id of a turn violates which is there already.
const turnsKey = "turns_pkey"

// answerCall puts a client's result beside its call. A turn that still runs gets it with its end.
func answerCall(ctx context.Context, tx bun.Tx, session sessions.Session, result sessions.Message) error {
	asked, err := sessions.TurnAskingTx(ctx, tx, session, result.CallID)
	if err != nil || asked.Status == sessions.TurnInProgress {
		return err
	}
	asked.Messages = append(asked.Messages, result)
	return sessions.RewriteMessages(ctx, tx, asked)
}

// appendTo adds a message to an unanswered turn. A turn that is not in progress comes back as it
// is.
func appendTo(ctx context.Context, tx bun.Tx, session sessions.Session, id sessions.TurnID, said sessions.Message) (sessions.Turn, error) {
	turn, err := sessions.FindTurn(ctx, tx, session, id)
	if err != nil || turn.Status != sessions.TurnInProgress {
		return turn, err
	}
	turn.Messages = append(turn.Messages, said)
	turn.UserText = turns.UserText(turn.Messages)
	_, err = sessions.UpdateTurn(ctx, tx, turn, "messages", "user_text")
	return turn, err
}

// checkNewCall refuses a call's id that the session knows. The session's row is locked.
func checkNewCall(ctx context.Context, tx bun.Tx, session sessions.Session, callID string) error {
	holding, err := sessions.TurnsHolding(ctx, tx, session, callID)
	if err != nil {
		return err
	}
	for _, turn := range holding {
		for _, m := range turn.Messages {
			if slices.ContainsFunc(m.Calls, func(c sessions.MessageCall) bool { return c.ID == callID }) {
				return fault.InvalidField("call_id", "taken", "There is a call with the id %q already.", callID)
			}
		}
	}
	return nil
}
