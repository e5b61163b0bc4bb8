package sessions

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// endPoll is how often an End looks whether the runner has closed the session.
const EndPollInterval = 50 * time.Millisecond

// EndParams is how a session is ended.
type EndParams struct {
	// Status is Completed or Broken (failed).
	Status Status
	// Reason has at most 500 characters; empty is ReasonEndedByAPI.
	Reason string
}

// End closes a session and returns it closed; one that was closed already is returned as it is.
// A turn that runs anywhere is stopped and recorded first.
// Errors: NotFound, Invalid invalid-request.
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

func CheckEnd(params *EndParams) error {
	if params.Status != Completed && params.Status != Broken {
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

// end asks for the end and waits until it is there, at most EndGrace for a running turn.
func (s *Service) end(ctx context.Context, session Session, status Status, reason string) (Session, error) {
	closed, err := s.RequestEnd(ctx, session, status, reason)
	if err != nil || closed.Closed() {
		return closed, err
	}
	waiting, cancel := context.WithTimeout(ctx, EndGrace)
	defer cancel()
	ticker := time.NewTicker(EndPollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return Session{}, ctx.Err() // it is written down: the runner or the sweep closes
			}
			return s.closeNow(ctx, session, status, reason)
		}
		closed, err = Find(ctx, s.db, session.TenantID, session.ID, "")
		if err != nil || closed.Closed() {
			return closed, err
		}
	}
}

// requestEnd closes the session, or writes the end down for the runner of the turn that is running.
func (s *Service) RequestEnd(ctx context.Context, session Session, status Status, reason string) (Session, error) {
	now := s.Now()
	var after Session
	err := s.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, session *Session) (err error) {
		if session.RunningTurnID != "" && !session.Closed() && !s.health.Steady() { // its node may be there although the lease is over
			err = askEnd(ctx, tx, session, status, reason, now)
		} else {
			err = s.EndTx(ctx, tx, session, status, reason, now)
		}
		after = *session
		return err
	})
	return after, err
}

// closeNow closes the session whatever runs.
func (s *Service) closeNow(ctx context.Context, session Session, status Status, reason string) (Session, error) {
	now := s.Now()
	var after Session
	err := s.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, session *Session) error {
		if session.SpillUntil.After(now) {
			after = *session
			return fault.New(fault.ServiceUnavailable, "Turns of the session that were taken while the database was away are still being written. The end is written down and follows them.")
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

// endTx is requestEnd on a locked row. The first end that was asked for is the one that happens.
func (s *Service) EndTx(ctx context.Context, tx bun.Tx, session *Session, status Status, reason string, now time.Time) error {
	if session.Closed() {
		return nil
	}
	if (session.RunningTurnID == "" || !session.RunningUntil.After(now)) && !session.SpillUntil.After(now) {
		if !session.EndingAt.IsZero() {
			status, reason = session.EndingStatus, session.EndingReason
		}
		return s.CloseTx(ctx, tx, session, status, reason, now)
	}
	return askEnd(ctx, tx, session, status, reason, now)
}

// openError is why a session takes nothing more: it is closed, or about to be.
func CheckOpen(session Session) error {
	if err := ClosedError(session); err != nil {
		return err
	}
	if !session.EndingAt.IsZero() {
		return fault.New(fault.SessionClosed, "The session is being ended (%s). Create a new one.", session.EndingReason)
	}
	return nil
}

// askEnd writes down an end for the runner of the turn that runs.
func askEnd(ctx context.Context, tx bun.Tx, session *Session, status Status, reason string, now time.Time) error {
	if !session.EndingAt.IsZero() {
		return nil
	}
	session.EndingAt, session.EndingStatus, session.EndingReason = now, status, reason
	if err := Update(ctx, tx, *session, "ending_at", "ending_status", "ending_reason"); err != nil {
		return err
	}
	return Notify(ctx, tx, Notice{Kind: NoticeEnding, Session: session.ID})
}

// closeTx closes a locked session: unfinished turns, the row, its sockets' rows, the event and
// the notification, once.
func (s *Service) CloseTx(ctx context.Context, tx bun.Tx, session *Session, status Status, reason string, now time.Time) (err error) {
	if session.Closed() {
		return nil
	}
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "end session",
		telemetry.Text("parlance.session_id", string(session.ID)), telemetry.Text("parlance.status", string(status)))
	defer func() { span.End(err) }()
	begun := session.Status == InProgress
	turns, err := AllTurns(ctx, tx, *session)
	if err != nil {
		return err
	}
	for i := range turns {
		if err := AbandonTurnTx(ctx, tx, *session, &turns[i], now); err != nil {
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
	if begun {
		if err := s.ended(ctx, tx, *session, turns); err != nil {
			return err
		}
	}
	return Notify(ctx, tx, Notice{Kind: NoticeEnded, Session: session.ID})
}

// abandonTurn finishes a turn that nobody will: what was said and not answered, or a turn whose
// runner did not come to its end.
func AbandonTurnTx(ctx context.Context, tx bun.Tx, session Session, turn *Turn, now time.Time) error {
	if turn.Status != TurnInProgress {
		return nil
	}
	turn.Status, turn.EndedAt = TurnCancelled, now
	if turn.Losses > 0 {
		turn.Status, turn.ErrorCode, turn.ErrorMessage = TurnFailed, string(fault.InternalError), "The node that answered was lost, and the conversation ended before another one did."
	}
	turn.Messages = SettleOpenCalls(turn.Messages, CodeUnknown, outputLost)
	turn.AgentText = AgentText(turn.Messages)
	turn.PutReceipt(session, nil)
	_, err := UpdateTurn(ctx, tx, *turn, "status", "ended_at", "messages", "agent_text", "error_code", "error_message")
	return err
}

// A session fails when its last maxFailures turns did, over failureSpan at least: who talks to it has been told each
// time, has tried again, and nothing will come of it. A model that was away for a moment ends nothing.
const (
	maxFailures = 5
	failureSpan = time.Minute
)

// giveUp fails a session whose last turns have all failed by a fault of the model or ours.
func (s *Service) GiveUpTx(ctx context.Context, tx bun.Tx, session *Session, last Turn, now time.Time) error {
	if last.Status != TurnFailed {
		return nil
	}
	var latest []Turn
	err := tx.NewSelect().Model(&latest).Column("status", "error_code", "started_at").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.status <> ?", TurnInProgress).
		OrderExpr("t.index DESC").Limit(maxFailures).Scan(ctx)
	if err != nil {
		return fmt.Errorf("reading the latest turns: %w", err)
	}
	for _, turn := range latest {
		if turn.Status != TurnFailed || (turn.ErrorCode != string(fault.UpstreamFailed) && turn.ErrorCode != string(fault.InternalError)) {
			return nil
		}
	}
	if len(latest) < maxFailures || now.Sub(latest[len(latest)-1].StartedAt) < failureSpan {
		return nil
	}
	return s.CloseTx(ctx, tx, session, Broken, ReasonInternal, now)
}

// hangUpReason is the reason of an end by a client that has hung up: the user's words that were taken are written down.
// The session's row is locked.
func HangUpReason(ctx context.Context, tx bun.Tx, session Session) (string, error) {
	said, err := tx.NewSelect().Model((*Turn)(nil)).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.user_text <> ''").Exists(ctx)
	if err != nil {
		return "", fmt.Errorf("looking for the user's words: %w", err)
	}
	if !said {
		return ReasonNoTurns, nil
	}
	return ReasonHangUp, nil
}

// anythingSaid says whether the user took a turn.
func AnythingSaid(turns []Turn) bool {
	for _, turn := range turns {
		if turn.UserText != "" {
			return true
		}
	}
	return false
}

func (s *Service) TranscriptURL(id ID) string {
	return s.publicURL + "/v1/sessions/" + string(id) + "/transcript"
}

// startTx makes a locked pending session in_progress and records its greeting, if it has one.
// One whose token ran out is closed as expired instead. The greeting is nil unless it was made now.
func (s *Service) StartTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time) (*Turn, error) {
	if session.Status != Pending {
		return nil, nil //nolint:nilnil // no greeting is no error
	}
	if !session.TokenExpiresAt.After(now) {
		return nil, s.CloseTx(ctx, tx, session, Broken, ReasonExpired, now)
	}
	session.Status, session.StartedAt, session.LastActivityAt = InProgress, now, now
	greeting := NewGreeting(session, now)
	if greeting != nil {
		if err := InsertTurn(ctx, tx, *greeting); err != nil {
			return nil, err
		}
		session.TurnCount++
	}
	return greeting, Update(ctx, tx, *session, "status", "started_at", "last_activity_at", "turn_count")
}
