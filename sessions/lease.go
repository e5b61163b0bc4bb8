package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/usage"
)

const (
	// LeaseLife is how long a node may go without renewing the lease of its turn before the turn
	// counts as lost. A client waits that long for its answer when a server is killed.
	LeaseLife = 12 * time.Second
	// WriteTimeout bounds a transaction that must be made although its caller has disconnected.
	WriteTimeout = 10 * time.Second
	// maxLosses is how many nodes a turn may lose before it fails.
	maxLosses = 2
	// resumeGrace is how long a lost turn waits for a caller to request it again. Clients reconnect
	// within seconds.
	resumeGrace = 10 * time.Second
)

// AwaitsResume reports whether the session's running turn lost its node and waits for a caller to
// request it again. The turn keeps its expired lease for resumeGrace.
func (s *Session) AwaitsResume(now time.Time) bool {
	return s.RunningTurnID != "" && s.RunningResponseID == "" && s.EndingAt.IsZero() &&
		!s.RunningUntil.After(now) && s.RunningUntil.Add(resumeGrace).After(now)
}

// LoseTurnTx takes the turn from a node that stopped renewing its lease. A turn that no socket
// asked for fails, other turns are marked as to be resumed. The session's row must be locked.
func LoseTurnTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time) error {
	return loseTurn(ctx, tx, session, now, session.RunningResponseID != "")
}

// LoseAwaitedTurnTx is LoseTurnTx for a turn whose answer a caller awaits: the turn is to be
// resumed, also when no socket asked for it.
func LoseAwaitedTurnTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time) error {
	return loseTurn(ctx, tx, session, now, true)
}

// loseTurn takes the turn from a node that stopped renewing its lease. awaited says whether anybody
// awaits the answer.
func loseTurn(ctx context.Context, tx bun.Tx, session *Session, now time.Time, awaited bool) error {
	if session.RunningTurnID == "" || session.RunningUntil.After(now) {
		return nil
	}
	turn, err := FindTurn(ctx, tx, *session, session.RunningTurnID)
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		return err
	}
	if err == nil && turn.Status == TurnInProgress {
		if err := resumeOrFail(ctx, tx, session, turn, now, awaited); err != nil {
			return err
		}
	}
	session.RunningTurnID, session.RunningUntil, session.RunningResponseID = "", time.Time{}, ""
	return Update(ctx, tx, *session, "running_turn_id", "running_until", "running_response_id")
}

// resumeOrFail marks a lost turn as to be resumed, or fails it.
func resumeOrFail(ctx context.Context, tx bun.Tx, session *Session, turn Turn, now time.Time, awaited bool) error {
	before := turn
	unasked, err := withdrawApprovals(ctx, tx, turn, now)
	if err != nil {
		return err
	}
	turn.Messages = settleCalls(turn.Messages, unasked, CallResult{
		ErrorCode: string(CodeNotApproved), ErrorMessage: outputApprovalLost,
		Approval: &CallApproval{Status: ApprovalWithdrawn, DecidedAt: now},
	})
	turn.Messages = SettleOpenCalls(turn.Messages, CodeUnknown, outputLost)
	if !awaited || turn.Losses >= maxLosses || !session.EndingAt.IsZero() {
		turn.Status, turn.EndedAt = TurnFailed, now
		turn.ErrorCode, turn.ErrorMessage = string(fault.ServiceUnavailable), "The server that answered was lost. Say it again."
		return finishTurn(ctx, tx, session, &turn)
	}
	turn.ToBeResumed, turn.LostResponseID = true, session.RunningResponseID
	turn.Losses++
	if err := updateLostTurn(ctx, tx, before, turn); err != nil {
		return err
	}
	return Notify(ctx, tx, Notice{Kind: NoticeResume, Session: session.ID})
}

// updateLostTurn stores a turn that is to be resumed. Its earlier node can no longer finish it.
func updateLostTurn(ctx context.Context, tx bun.Tx, before, turn Turn) error {
	_, err := tx.NewUpdate().Model(&turn).Column("messages", "wanted", "losses", "lost_response_id").
		Where("t.tenant_id = ?", turn.TenantID).Where("t.id = ?", turn.ID).
		Where("t.status = ?", TurnInProgress).Where("t.losses = ?", before.Losses).Exec(ctx)
	return err
}

// withdrawApprovals closes the waiting requests for approval of a turn whose node was lost, and
// returns their calls, none of which was made. The result is never nil.
func withdrawApprovals(ctx context.Context, tx bun.Tx, turn Turn, now time.Time) ([]string, error) {
	calls := []string{}
	err := tx.NewUpdate().Model((*Approval)(nil)).Set("status = ?", ApprovalWithdrawn).Set("decided_at = ?", now).
		Where("v.tenant_id = ?", turn.TenantID).Where("v.session_id = ?", turn.SessionID).Where("v.turn_id = ?", turn.ID).
		Where("v.status = ?", ApprovalWaiting).Returning("v.id").Scan(ctx, &calls)
	if err != nil && !postgres.NoRows(err) {
		return nil, fmt.Errorf("withdrawing a turn's approvals: %w", err)
	}
	return calls, nil
}

// ReclaimTurnTx gives a turn that was marked as to be resumed back to its node, which was only cut
// off from Postgres. It returns false when another node has resumed the turn or it has ended. The
// session's row must be locked.
func ReclaimTurnTx(ctx context.Context, tx bun.Tx, session *Session, id TurnID, response string, losses int, now time.Time) (bool, error) {
	if session.RunningTurnID != "" || session.Closed() {
		return false, nil
	}
	reclaimed, err := postgres.Changed(tx.NewUpdate().Model((*Turn)(nil)).Set("losses = ?", losses).Set("wanted = ?", false).
		Where("t.tenant_id = ?", session.TenantID).Where("t.id = ?", id).
		Where("t.status = ?", TurnInProgress).Where("t.losses = ?", losses+1).Where("t.wanted").Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("reclaiming turn: %w", err)
	}
	if !reclaimed {
		return false, nil
	}
	session.RunningTurnID, session.RunningUntil, session.RunningResponseID = id, now.Add(LeaseLife), response
	return true, Update(ctx, tx, *session, "running_turn_id", "running_until", "running_response_id")
}

// AbandonTurnTx finishes a turn in progress that no node will finish: no node began to answer it,
// or its runner did not record an end. The session's row must be locked.
func AbandonTurnTx(ctx context.Context, tx bun.Tx, session *Session, turn *Turn, now time.Time) error {
	if turn.Status != TurnInProgress {
		return nil
	}
	turn.Status, turn.EndedAt = TurnCancelled, now
	if turn.Losses > 0 {
		turn.Status, turn.ErrorCode = TurnFailed, string(fault.ServiceUnavailable)
		turn.ErrorMessage = "The server that answered was lost, and the conversation ended before another one did."
	}
	turn.Messages = SettleOpenCalls(turn.Messages, CodeUnknown, outputLost)
	return finishTurn(ctx, tx, session, turn)
}

// meterTurn counts what a turn without a runner has used. The tokens of a lost node are not known.
func meterTurn(ctx context.Context, tx bun.Tx, session Session, turn Turn) error {
	records, err := UsageOfTurn(turn, nil)
	if err != nil {
		return err
	}
	place := session.Place()
	place.At = turn.EndedAt
	return usage.Add(ctx, tx, place, records...)
}

// finishTurn stores the end of a turn that no runner finished, and counts its calls in its session.
func finishTurn(ctx context.Context, tx bun.Tx, session *Session, turn *Turn) error {
	turn.AgentText = AgentText(turn.Messages)
	turn.SetReceipt(*session, nil)
	changed, err := UpdateTurn(ctx, tx, *turn, "status", "ended_at", "messages", "agent_text", "error_code", "error_message")
	if err == nil && changed {
		err = meterTurn(ctx, tx, *session, *turn)
	}
	if calls := len(turn.ToolCalls()); err == nil && calls > 0 {
		session.ToolCalls += calls
		err = Update(ctx, tx, *session, "tool_calls")
	}
	return err
}
