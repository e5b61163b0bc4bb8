package journal

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
	"parlance.dev/parlance/turns"
)

// Why a record can never be written.
var (
	errErased     = errors.New("the session is erased")
	errSuperseded = errors.New("another node has answered the turn")
)

// apply writes a record to Postgres. A record that was written before changes nothing.
// Errors: errErased, errSuperseded, those of statements.
func (j *Journal) apply(ctx context.Context, r record) error {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	switch r.Kind {
	case recordResults:
		session := sessions.Session{TenantID: r.Tenant, ID: r.Session}
		return j.Store.AddResults(ctx, turns.ResultParams{Session: session, Turn: r.TurnID, Results: r.Results, Assigned: r.Assigned})
	case recordTrace:
		if j.tools == nil {
			return nil
		}
		return j.tools.PutTrace(ctx, *r.Trace)
	case recordTurn, recordFinish, recordLeft, recordEnd:
	}
	var stored sessions.Turn
	err := j.sessions.Locked(ctx, r.Tenant, r.Session, func(ctx context.Context, tx bun.Tx, session *sessions.Session) (err error) {
		switch {
		case session.Closed() && r.Turn == nil:
			return nil // it ends what is over
		case session.Closed():
			stored, err = applyLate(ctx, tx, session, r)
			return err
		case r.Turn != nil:
			stored, err = applyTurn(ctx, tx, session, *r.Turn, r.At)
			return err
		case r.Kind == recordLeft:
			return applyLeft(ctx, tx, session, r)
		}
		return wantEnd(ctx, tx, session, r.Status, r.Reason, r.At)
	})
	if fault.IsReason(err, fault.ResourceNotFound) {
		return fmt.Errorf("%w: %w", errErased, err)
	}
	if err != nil || r.Kind != recordFinish {
		return err
	}
	return j.applyFinish(ctx, stored, r)
}

// applyLeft writes that a socket has left. When the last one has hung up, the end of the session is
// written down too.
func applyLeft(ctx context.Context, tx bun.Tx, session *sessions.Session, r record) error {
	last, err := sessions.LeaveTx(ctx, tx, session, r.Socket, r.At)
	if err != nil || !last || !r.HungUp {
		return err
	}
	reason, err := sessions.HangUpReason(ctx, tx, *session)
	if err != nil {
		return err
	}
	return wantEnd(ctx, tx, session, sessions.Completed, reason, r.At)
}

// applyLate is applyTurn for a session that was closed elsewhere before this node could say that it
// has records. The turn is written into the transcript all the same, and turn.persistence_failed
// tells those who have read the transcript before. It replaces an end that the closing gave to the
// turn, and not an answer of another node.
func applyLate(ctx context.Context, tx bun.Tx, session *sessions.Session, r record) (sessions.Turn, error) {
	stored, err := sessions.FindTurn(ctx, tx, *session, r.Turn.ID)
	switch {
	case fault.IsReason(err, fault.ResourceNotFound):
	case err != nil:
		return stored, err
	case stored.Status == sessions.TurnInProgress: // the last try did not come to the turn's end
	case stored.EndedAt.Equal(r.Turn.EndedAt), r.Kind == recordTurn && !stored.EndedAt.Equal(session.EndedAt):
		return stored, nil // it is written
	case !stored.EndedAt.Equal(session.EndedAt):
		return stored, errSuperseded
	default:
		_, err := tx.NewUpdate().Model((*sessions.Turn)(nil)).Set("status = ?", sessions.TurnInProgress).Set("ended_at = NULL").
			Set("error_code = ''").Set("error_message = ''").Where("t.tenant_id = ?", stored.TenantID).Where("t.id = ?", stored.ID).Exec(ctx)
		if err != nil {
			return stored, fmt.Errorf("taking back a turn's end: %w", err)
		}
		session.ToolCalls -= len(stored.ToolCalls()) // the end that follows counts them
		if err := sessions.Update(ctx, tx, *session, "tool_calls"); err != nil {
			return stored, err
		}
	}
	stored, err = applyTurn(ctx, tx, session, *r.Turn, r.At)
	if err != nil || r.Kind == recordFinish {
		return stored, err
	}
	return stored, sessions.AbandonTurnTx(ctx, tx, session, &stored, session.EndedAt)
}

// wantEnd writes down an end of the session, for when all records are replayed. The first end that
// was asked for counts.
func wantEnd(ctx context.Context, tx bun.Tx, session *sessions.Session, status sessions.Status, reason string, at time.Time) error {
	if !session.EndingAt.IsZero() {
		return nil
	}
	session.EndingAt, session.EndingStatus, session.EndingReason = at, status, reason
	return sessions.Update(ctx, tx, *session, "ending_at", "ending_status", "ending_reason")
}

// applyTurn writes a running turn as it stands in the record, and returns it as it is in its row:
// somebody else may have finished it. The session's row is locked.
func applyTurn(ctx context.Context, tx bun.Tx, session *sessions.Session, turn sessions.Turn, at time.Time) (sessions.Turn, error) {
	stored, err := sessions.FindTurn(ctx, tx, *session, turn.ID)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return insertOffline(ctx, tx, session, turn, at)
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
	first := !stored.Journalled
	stored.Messages, stored.UserText, stored.Journalled = turn.Messages, turn.UserText, true
	stored.ToBeResumed, stored.LostResponseID = turn.ToBeResumed, turn.LostResponseID
	if _, err := sessions.UpdateTurn(ctx, tx, stored, "messages", "user_text", "wanted", "lost_response_id", "spilled"); err != nil || !first {
		return stored, err
	}
	return stored, appendPersistenceFailed(ctx, tx, *session, turn.ID, at, true)
}

// insertOffline writes a turn that was begun without Postgres, at the end of the session.
func insertOffline(ctx context.Context, tx bun.Tx, session *sessions.Session, turn sessions.Turn, at time.Time) (sessions.Turn, error) {
	if err := answerAsked(ctx, tx, *session, turn); err != nil {
		return turn, err
	}
	turn.Index, turn.Status, turn.Journalled, turn.EndedAt = session.TurnCount, sessions.TurnInProgress, true, time.Time{}
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

// answerAsked puts a client's results beside the calls of earlier turns, as Store.Accept does.
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
		asked, err := sessions.TurnOfOpenCallTx(ctx, tx, session, m.CallID)
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

// applyFinish writes the end of a turn whose row applyTurn has written.
func (j *Journal) applyFinish(ctx context.Context, stored sessions.Turn, r record) error {
	if stored.Status != sessions.TurnInProgress && !stored.EndedAt.Equal(r.Turn.EndedAt) {
		return errSuperseded
	}
	turn := *r.Turn
	turn.Index, turn.Losses, turn.StartedAt, turn.Feedback = stored.Index, stored.Losses, stored.StartedAt, stored.Feedback
	turn.Journalled = true
	if err := completeReceipt(&turn, r.Receipt); err != nil {
		return err
	}
	finished, err := j.Store.Finish(ctx, turns.FinishParams{
		Session: sessions.Session{TenantID: r.Tenant, WorkspaceID: r.Workspace, AgentID: r.Agent, ID: r.Session, UserID: r.UserID}, Turn: turn,
		Escalation: r.Escalation, Handover: r.Handover, EndCall: r.EndCall, EndReason: r.EndReason, Language: r.Language,
		Assigned: r.Assigned, At: r.At, MoreToCome: true,
	})
	if err == nil && !finished.Recorded {
		return errSuperseded
	}
	return err
}

// completeReceipt gives a turn its receipt: the place in the session was not known when the receipt
// was made.
func completeReceipt(t *sessions.Turn, made json.RawMessage) error {
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

// appendPersistenceFailed appends the event of a turn that could not be written at once. Its id is
// made from the turn's, so that the outbox itself refuses a second one.
func appendPersistenceFailed(
	ctx context.Context, tx bun.Tx, session sessions.Session, turn sessions.TurnID, failed time.Time, recovered bool,
) error {
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
