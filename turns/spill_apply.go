package turns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
)

// Why a record can never be written.
var (
	errErased     = errors.New("the session is erased")
	errSuperseded = errors.New("another node has answered the turn")
)

// apply writes a record. It may have been written before: then nothing changes.
// Errors: errErased, errSuperseded, those of statements.
func (s *Service) apply(ctx context.Context, r record) error {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	switch r.Kind {
	case recordResults:
		return s.correctTx(ctx, r.Tenant, r.Session, r.TurnID, r.Results, r.Assigned)
	case recordTrace:
		if s.tools == nil {
			return nil
		}
		return s.tools.PutTrace(ctx, *r.Trace)
	}
	err := s.sessions.Locked(ctx, r.Tenant, r.Session, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		if session.Closed() {
			if r.Turn == nil {
				return nil // it ends what is over
			}
			return s.applyLate(ctx, tx, session, r)
		}
		switch r.Kind {
		case recordTurn, recordFinish:
			return s.applyTaken(ctx, tx, session, r)
		case recordLeft:
			last, err := sessions.LeaveTx(ctx, tx, session, r.Socket, r.At)
			if err != nil || !last || !r.HungUp {
				return err
			}
			reason, err := sessions.HangUpReason(ctx, tx, *session)
			if err != nil {
				return err
			}
			return wantEnd(ctx, tx, session, sessions.Completed, reason, r.At)
		default:
			return wantEnd(ctx, tx, session, r.Status, r.Reason, r.At)
		}
	})
	if fault.IsReason(err, fault.ResourceNotFound) {
		return fmt.Errorf("%w: %w", errErased, err)
	}
	return err
}

// applyTaken writes what became of a turn.
func (s *Service) applyTaken(ctx context.Context, tx bun.Tx, session *sessions.Session, r record) error {
	if r.Kind == recordFinish {
		return s.applyFinish(ctx, tx, session, r)
	}
	_, err := applyTurn(ctx, tx, session, *r.Turn, r.At)
	return err
}

// applyLate writes a turn of a session that was closed before this node could say that it has one: the end was asked
// for elsewhere as soon as Postgres was back. The turn belongs into the transcript all the same, and its event tells
// who has read that already. What the closing made of the turn gives way; what another node answered does not.
func (s *Service) applyLate(ctx context.Context, tx bun.Tx, session *sessions.Session, r record) error {
	stored, err := sessions.FindTurn(ctx, tx, *session, r.Turn.ID)
	switch {
	case fault.IsReason(err, fault.ResourceNotFound):
	case err != nil:
		return err
	case stored.EndedAt.Equal(r.Turn.EndedAt), r.Kind == recordTurn && !stored.EndedAt.Equal(session.EndedAt):
		return nil // it is written
	case !stored.EndedAt.Equal(session.EndedAt):
		return errSuperseded
	default:
		_, err := tx.NewUpdate().Model((*sessions.Turn)(nil)).Set("status = ?", sessions.TurnInProgress).Set("ended_at = NULL").
			Set("error_code = ''").Set("error_message = ''").Where("t.tenant_id = ?", stored.TenantID).Where("t.id = ?", stored.ID).Exec(ctx)
		if err != nil {
			return fmt.Errorf("taking back a turn's end: %w", err)
		}
	}
	r.EndCall = false
	if err := s.applyTaken(ctx, tx, session, r); err != nil {
		return err
	}
	if stored, err = sessions.FindTurn(ctx, tx, *session, r.Turn.ID); err != nil {
		return err
	}
	return sessions.AbandonTurnTx(ctx, tx, *session, &stored, session.EndedAt)
}

// wantEnd writes down an end for when all records are written. The first that was asked for is the one that happens.
func wantEnd(ctx context.Context, tx bun.Tx, session *sessions.Session, status sessions.Status, reason string, at time.Time) error {
	if !session.EndingAt.IsZero() {
		return nil
	}
	session.EndingAt, session.EndingStatus, session.EndingReason = at, status, reason
	return sessions.Update(ctx, tx, *session, "ending_at", "ending_status", "ending_reason")
}

// applyTurn brings a turn that goes on to where it stands, and returns it as it is in its row; its status says
// whether it still goes on there. The session's row is locked.
func applyTurn(ctx context.Context, tx bun.Tx, session *sessions.Session, turn sessions.Turn, at time.Time) (sessions.Turn, error) {
	stored, err := sessions.FindTurn(ctx, tx, *session, turn.ID)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return insertSpilled(ctx, tx, session, turn, at)
	}
	if err != nil || stored.Status != sessions.TurnInProgress {
		return stored, err
	}
	if stored.Losses != turn.Losses {
		if back, err := sessions.ReclaimTurnTx(ctx, tx, session, turn.ID, "", turn.Losses, at); err != nil || !back {
			return stored, errors.Join(err, errSuperseded)
		}
		session.RunningTurnID, session.RunningUntil = "", time.Time{}
		if err := sessions.Update(ctx, tx, *session, "running_turn_id", "running_until"); err != nil {
			return stored, err
		}
		stored.Losses = turn.Losses
	}
	if err := answerAsked(ctx, tx, *session, turn); err != nil {
		return stored, err
	}
	first := !stored.Spilled
	stored.Messages, stored.UserText, stored.Wanted, stored.LostResponseID, stored.Spilled = turn.Messages, turn.UserText, turn.Wanted, turn.LostResponseID, true
	if _, err := sessions.UpdateTurn(ctx, tx, stored, "messages", "user_text", "wanted", "lost_response_id", "spilled"); err != nil || !first {
		return stored, err
	}
	return stored, appendPersistenceFailed(ctx, tx, *session, turn.ID, at, true)
}

// insertSpilled writes a turn that was begun without Postgres, at the end of the session.
func insertSpilled(ctx context.Context, tx bun.Tx, session *sessions.Session, turn sessions.Turn, at time.Time) (sessions.Turn, error) {
	if err := answerAsked(ctx, tx, *session, turn); err != nil {
		return turn, err
	}
	turn.Index, turn.Status, turn.Spilled, turn.EndedAt = session.TurnCount, sessions.TurnInProgress, true, time.Time{}
	turn.ReceiptHash, turn.Receipt = "", nil
	session.TurnCount++
	if at.After(session.LastActivityAt) {
		session.LastActivityAt = at
	}
	if err := sessions.InsertTurn(ctx, tx, turn); err != nil {
		return turn, err
	}
	if err := sessions.Update(ctx, tx, *session, "turn_count", "last_activity_at"); err != nil {
		return turn, err
	}
	return turn, appendPersistenceFailed(ctx, tx, *session, turn.ID, at, true)
}

// answerAsked puts a client's results beside the calls of earlier turns, as accept does.
func answerAsked(ctx context.Context, tx bun.Tx, session sessions.Session, turn sessions.Turn) error {
	own := map[string]bool{}
	for _, m := range turn.Messages {
		for _, call := range m.Calls {
			own[call.ID] = true
		}
	}
	for _, m := range turn.Messages {
		if m.Role != sessions.RoleTool || own[m.CallID] {
			continue
		}
		asked, err := sessions.TurnAskingTx(ctx, tx, session, m.CallID)
		if fault.IsReason(err, fault.InvalidRequest) {
			continue // it has its result
		}
		if err != nil {
			return err
		}
		if asked.Status == sessions.TurnInProgress {
			continue // its own end does it
		}
		asked.Messages = append(asked.Messages, m)
		if err := sessions.RewriteMessages(ctx, tx, asked); err != nil {
			return err
		}
	}
	return nil
}

// applyFinish writes a turn's end as finish does, with the receipt that its row needs. The session's row is locked.
func (s *Service) applyFinish(ctx context.Context, tx bun.Tx, session *sessions.Session, r record) error {
	turn := *r.Turn
	going := turn
	going.Messages = append([]sessions.Message{}, turn.Messages...)
	stored, err := applyTurn(ctx, tx, session, going, r.At)
	if err != nil {
		return err
	}
	if stored.Status != sessions.TurnInProgress {
		if stored.EndedAt.Equal(turn.EndedAt) {
			return nil
		}
		return errSuperseded
	}
	turn.Index, turn.Losses, turn.StartedAt, turn.Spilled, turn.Feedback = stored.Index, stored.Losses, stored.StartedAt, true, stored.Feedback
	if err := spillReceipt(&turn, r.Receipt); err != nil {
		return err
	}
	with := finishing{endCall: r.EndCall, language: r.Language, assigned: r.Assigned}
	recorded, err := s.finishTx(ctx, tx, session, turn, with, r.At, true)
	if err == nil && !recorded {
		return errSuperseded
	}
	return err
}

// spillReceipt is the receipt of a turn whose place in the session was not known when it ended.
func spillReceipt(t *sessions.Turn, made json.RawMessage) error {
	var receipt sessions.Receipt
	if err := json.Unmarshal(made, &receipt); err != nil {
		return fmt.Errorf("%w: its receipt: %w", errRecord, err)
	}
	receipt.Index, receipt.StartedAt, receipt.Spilled = t.Index, sessions.ReceiptTime{Time: t.StartedAt}, true
	canonical, err := receipt.Canonical()
	if err != nil {
		return fmt.Errorf("%w: its receipt: %w", errRecord, err)
	}
	t.Receipt, t.ReceiptHash = canonical, sessions.HashOf(canonical)
	return nil
}

// appendPersistenceFailed appends the event of a turn that could not be written at once. Its id is made from the
// turn's, so that the outbox itself refuses a second one.
func appendPersistenceFailed(ctx context.Context, tx bun.Tx, session sessions.Session, turn sessions.TurnID, failed time.Time, recovered bool) error {
	_, err := events.Append(ctx, tx, events.Event{
		ID:       string(idgen.Event) + strings.TrimPrefix(string(turn), string(idgen.Turn)),
		TenantID: string(session.TenantID), WorkspaceID: string(session.WorkspaceID),
		Type: events.TurnPersistenceFailed, Subject: string(turn), CreatedAt: failed,
		Payload: &events.TurnPersistenceFailedData{
			SessionId: string(session.ID), TurnId: string(turn), AgentId: string(session.AgentID),
			Recovered: recovered, FailedAt: timestamppb.New(failed),
		},
	})
	return err
}
