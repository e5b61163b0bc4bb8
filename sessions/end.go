package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// EndPollInterval is how often End checks whether the runner has closed the session.
const EndPollInterval = 50 * time.Millisecond

// EndParams says how a session ends.
type EndParams struct {
	// Status is Completed or Failed (failed).
	Status Status
	// Reason has at most 500 characters; empty is ReasonEndedByAPI.
	Reason string
}

// End closes a session and returns it closed. A session that was closed before is returned as it
// is. A running turn is stopped and recorded first, on whichever node it runs. Errors: NotFound,
// Invalid invalid-request.
func (s *Service) End(ctx context.Context, p workspaces.Principal, id ID, params EndParams) (Session, error) {
	if err := CheckEnd(&params); err != nil {
		return Session{}, err
	}
	session, err := s.Get(ctx, p, id)
	if err != nil || session.Closed() {
		return session, err
	}
	return s.end(ctx, session, params.Status, params.Reason)
}

// CheckEnd checks the parameters and fills in the default reason.
func CheckEnd(params *EndParams) error {
	if params.Status != Completed && params.Status != Failed {
		return fault.InvalidField("status", "in", "status must be completed or failed.")
	}
	if utf8.RuneCountInString(params.Reason) > MaxReasonChars || !IsStorable(params.Reason) {
		return fault.InvalidField("reason", "max_len", "reason has at most %d characters.", MaxReasonChars)
	}
	if params.Reason == "" {
		params.Reason = ReasonEndedByAPI
	}
	return nil
}

// end requests the end and waits until the session is closed, at most EndGrace while a turn runs.
func (s *Service) end(ctx context.Context, session Session, status Status, reason string) (Session, error) {
	closed, err := s.RequestEnd(ctx, session, status, reason)
	if err != nil || closed.Closed() {
		return closed, err
	}
	return s.awaitEnd(ctx, session, status, reason)
}

// awaitEnd waits until a session is closed whose end was requested, at most EndGrace.
func (s *Service) awaitEnd(ctx context.Context, session Session, status Status, reason string) (Session, error) {
	waiting, cancel := context.WithTimeout(ctx, EndGrace)
	defer cancel()
	ticker := time.NewTicker(EndPollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return Session{}, ctx.Err() // the end is recorded: the runner or the sweep closes the session
			}
			return s.closeNow(ctx, session, status, reason)
		}
		closed, err := Find(ctx, s.db, session.TenantID, session.ID, "")
		if err != nil || closed.Closed() {
			return closed, err
		}
	}
}

// RequestEnd closes the session, or records the end for the runner of the running turn. While
// Postgres is unavailable an expired lease does not prove that its node is lost, so the end is only
// recorded.
func (s *Service) RequestEnd(ctx context.Context, session Session, status Status, reason string) (Session, error) {
	now := s.Now()
	var after Session
	err := s.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, session *Session) (err error) {
		if session.RunningTurnID != "" && !session.Closed() && !s.health.Steady() {
			err = recordEnd(ctx, tx, session, status, reason, now)
		} else {
			err = s.EndTx(ctx, tx, session, status, reason, now)
		}
		after = *session
		return err
	})
	return after, err
}

// closeNow closes the session even while a turn runs.
func (s *Service) closeNow(ctx context.Context, session Session, status Status, reason string) (Session, error) {
	now := s.Now()
	var after Session
	err := s.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, session *Session) error {
		if session.JournalUntil.After(now) {
			after = *session
			return fault.New(fault.ServiceUnavailable, "Turns of the session that were taken while the database was unavailable "+
				"are still being written. The end is recorded and follows them.")
		}
		if !session.EndingAt.IsZero() {
			status, reason = session.EndingStatus, session.EndingReason
		}
		err := s.CloseTx(ctx, tx, session, status, reason, now)
		after = *session
		return err
	})
	return after, err
}

// EndTx is RequestEnd on a locked row. The end that was requested first is the one that happens.
func (s *Service) EndTx(ctx context.Context, tx bun.Tx, session *Session, status Status, reason string, now time.Time) error {
	if session.Closed() {
		return nil
	}
	if (session.RunningTurnID == "" || !session.RunningUntil.After(now)) && !session.JournalUntil.After(now) {
		if !session.EndingAt.IsZero() {
			status, reason = session.EndingStatus, session.EndingReason
		}
		return s.CloseTx(ctx, tx, session, status, reason, now)
	}
	return recordEnd(ctx, tx, session, status, reason, now)
}

// recordEnd records an end for the runner of the running turn.
func recordEnd(ctx context.Context, tx bun.Tx, session *Session, status Status, reason string, now time.Time) error {
	if !session.EndingAt.IsZero() {
		return nil
	}
	session.EndingAt, session.EndingStatus, session.EndingReason = now, status, reason
	if err := Update(ctx, tx, *session, "ending_at", "ending_status", "ending_reason"); err != nil {
		return err
	}
	return Notify(ctx, tx, Notice{Kind: NoticeEnding, Session: session.ID})
}

// CloseTx closes a locked session once: it finishes open turns, updates the row, removes the
// sockets' rows, calls the functions of OnEnd and notifies the nodes.
func (s *Service) CloseTx(ctx context.Context, tx bun.Tx, session *Session, status Status, reason string, now time.Time) (err error) {
	if session.Closed() {
		return nil
	}
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "end session",
		telemetry.Text("parlance.session_id", string(session.ID)), telemetry.Text("parlance.status", string(status)))
	defer func() { span.End(err) }()
	started := session.Status == InProgress
	turns, err := AllTurns(ctx, tx, *session)
	if err != nil {
		return err
	}
	for i := range turns {
		if err := AbandonTurnTx(ctx, tx, session, &turns[i], now); err != nil {
			return err
		}
	}
	if err := settleClientCalls(ctx, tx, turns); err != nil {
		return err
	}
	session.Status, session.EndReason, session.EndedAt = status, reason, now
	session.RunningTurnID, session.RunningUntil, session.DroppedAt = "", time.Time{}, time.Time{}
	err = Update(ctx, tx, *session, "status", "end_reason", "ended_at", "running_turn_id", "running_until", "dropped_at")
	if err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*Connection)(nil)).
		Where("c.tenant_id = ?", session.TenantID).Where("c.session_id = ?", session.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("removing connections: %w", err)
	}
	for _, ended := range s.onEnd {
		if !started {
			break
		}
		if err := ended(ctx, tx, *session, turns); err != nil {
			return err
		}
	}
	return Notify(ctx, tx, Notice{Kind: NoticeEnded, Session: session.ID})
}

// A session fails when its last maxFailures turns failed and failureSpan has passed since the first
// of them began, so that a short outage of the model does not end it.
const (
	maxFailures = 5
	failureSpan = time.Minute
)

// FailAfterFailuresTx fails a locked session whose last turns all failed because of the model or
// of the service.
func (s *Service) FailAfterFailuresTx(ctx context.Context, tx bun.Tx, session *Session, last Turn, now time.Time) error {
	if last.Status != TurnFailed {
		return nil
	}
	latest, err := selectTurns(ctx, tx, *session, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Column("status", "error_code", "started_at").Where("t.status <> ?", TurnInProgress).
			OrderExpr("t.index DESC").Limit(maxFailures)
	})
	if err != nil {
		return err
	}
	for _, turn := range latest {
		ours := []fault.Reason{fault.UpstreamFailed, fault.InternalError, fault.ServiceUnavailable}
		if turn.Status != TurnFailed || !slices.Contains(ours, fault.Reason(turn.ErrorCode)) {
			return nil
		}
	}
	if len(latest) < maxFailures || now.Sub(latest[len(latest)-1].StartedAt) < failureSpan {
		return nil
	}
	return s.CloseTx(ctx, tx, session, Failed, ReasonInternal, now)
}

// HangUpReason returns the reason of an end by a client that hung up. The user's messages must be
// stored before, and the session's row must be locked.
func HangUpReason(ctx context.Context, tx bun.Tx, session Session) (string, error) {
	said, err := tx.NewSelect().Model((*Turn)(nil)).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.user_text <> ''").Exists(ctx)
	if err != nil {
		return "", fmt.Errorf("looking for a message of the user: %w", err)
	}
	if !said {
		return ReasonNoTurns, nil
	}
	return ReasonHangUp, nil
}
