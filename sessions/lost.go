package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
)

// A turn whose node was lost is taken up again when it was a socket that asked:
//
//	running ──lease over──► wanted ──► running (another answer, on the node where the client is now)
//
// What its calls came to is kept; one without a result is "unknown", and the model goes on from there.
// Without calls it is answered anew. The client's open answer is ended as failed first. A turn that has lost
// maxLosses nodes fails. What becomes of one without a socket: again.go.
//
// An answer that another node gives is watched: the sockets here are told how it ended, and no other
// one is begun before.

const (
	maxLosses = 2
)

func ErrLost() *fault.Error {
	return fault.New(fault.ServiceUnavailable, "The server that answered was lost. Another answer follows.")
}

func ErrTakenForLost() error {
	return fault.Wrap(ErrLeaseLost, fault.ServiceUnavailable, "The turn was taken for lost and has been stopped. Send it again.")
}

// loseTurn takes the turn from a node that stopped renewing its lease. One that no socket asked for fails,
// unless again says that somebody is there who has it answered again. The session's row is locked.
func LoseTurnTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time, again bool) error {
	if session.RunningTurnID == "" || session.RunningUntil.After(now) {
		return nil
	}
	turn, err := FindTurn(ctx, tx, *session, session.RunningTurnID)
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		return err
	}
	if err == nil && turn.Status == TurnInProgress {
		if err := putBack(ctx, tx, *session, turn, now, again); err != nil {
			return err
		}
	}
	session.RunningTurnID, session.RunningUntil, session.RunningResponseID = "", time.Time{}, ""
	return Update(ctx, tx, *session, "running_turn_id", "running_until", "running_response_id")
}

// putBack makes a lost turn wanted, or fails it.
func putBack(ctx context.Context, tx bun.Tx, session Session, turn Turn, now time.Time, again bool) error {
	before := turn
	unasked, err := withdrawAll(ctx, tx, turn, now)
	if err != nil {
		return err
	}
	turn.Messages = settleCalls(turn.Messages, unasked, string(CodeNotApproved), outputUnasked)
	turn.Messages = SettleOpenCalls(turn.Messages, CodeUnknown, outputLost)
	if session.RunningResponseID == "" && !again || turn.Losses >= maxLosses || !session.EndingAt.IsZero() {
		turn.Status, turn.EndedAt = TurnFailed, now
		turn.ErrorCode, turn.ErrorMessage = string(fault.InternalError), "The node that answered was lost."
		turn.AgentText = AgentText(turn.Messages)
		turn.PutReceipt(session, nil)
		_, err := UpdateTurn(ctx, tx, turn, "status", "ended_at", "error_code", "error_message", "messages", "agent_text")
		return err
	}
	turn.Wanted, turn.LostResponseID = true, session.RunningResponseID
	turn.Losses++
	if err := setLost(ctx, tx, before, turn); err != nil {
		return err
	}
	return Notify(ctx, tx, Notice{Kind: NoticeWanted, Session: session.ID})
}

// setLost writes a turn that was put back, which its old node cannot finish from then on.
func setLost(ctx context.Context, tx bun.Tx, before, turn Turn) error {
	_, err := tx.NewUpdate().Model(&turn).Column("messages", "wanted", "losses", "lost_response_id").
		Where("t.tenant_id = ?", turn.TenantID).Where("t.id = ?", turn.ID).
		Where("t.status = ?", TurnInProgress).Where("t.losses = ?", before.Losses).Exec(ctx)
	return err
}

// reclaim takes a turn that was put back for its node, which was only silent (Postgres was away), while
// nobody has taken it up. False when it is not there to be had. The session's row is locked.
func ReclaimTurnTx(ctx context.Context, tx bun.Tx, session *Session, id TurnID, response string, losses int, now time.Time) (bool, error) {
	if session.RunningTurnID != "" || session.Closed() {
		return false, nil
	}
	result, err := tx.NewUpdate().Model((*Turn)(nil)).Set("losses = ?", losses).Set("wanted = ?", false).
		Where("t.tenant_id = ?", session.TenantID).Where("t.id = ?", id).
		Where("t.status = ?", TurnInProgress).Where("t.losses = ?", losses+1).Where("t.wanted").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("reclaiming turn: %w", err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return false, err
	}
	session.RunningTurnID, session.RunningUntil, session.RunningResponseID = id, now.Add(LeaseLife), response
	return true, Update(ctx, tx, *session, "running_turn_id", "running_until", "running_response_id")
}
