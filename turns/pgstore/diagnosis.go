package pgstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// clearTheWay finds out why a turn could not begin. Without an error it was removed, or is gone:
// the turn may be tried again.
func (s *Store) clearTheWay(ctx context.Context, b beginning) (sessions.Session, error) {
	now := s.sessions.Now()
	session, err := sessions.Find(ctx, s.db, b.Session.TenantID, b.Session.ID, "")
	if err != nil {
		return session, err
	}
	if session.Status == sessions.Pending {
		return s.start(ctx, session, now)
	}
	if err := sessions.CheckOpen(session); err != nil {
		return session, err
	}
	switch ours, overdue := b.holds(session), leaseOver(session, now); {
	case ours:
	case b.Stores && !session.Handover.WithOperator():
		return session, turns.ErrNoOperator
	case b.Resume && (!overdue || session.RunningTurnID != b.Turn):
		return session, turns.ErrTaken
	case b.New != nil && overdue && session.RunningTurnID == b.Turn:
		return session, turns.ErrExists
	case session.RunningTurnID != "" && !overdue, session.JournalUntil.After(now):
		return session, turns.ErrBusy
	case session.AwaitsResume(now) && session.RunningTurnID != b.Turn:
		return session, turns.ErrBusy
	case overdue && !b.TakeLost:
		return session, turns.ErrLeaseOver
	case overdue:
		return session, s.takeFromLost(ctx, b, now)
	}
	if b.New != nil {
		return session, nil
	}
	turn, err := sessions.FindTurn(ctx, s.db, session, b.Turn)
	switch {
	case err != nil || turn.Status == sessions.TurnInProgress:
		return session, err
	case b.Resume:
		return session, turns.ErrTaken
	}
	return session, fault.New(fault.Conflict, "The turn has been closed meanwhile.")
}

// holds says whether the turn has the lease: an earlier try has taken it.
func (b beginning) holds(session sessions.Session) bool {
	return b.holder != "" && session.RunningTurnID == b.Turn && session.RunningResponseID == b.holder
}

// leaseOver says whether the turn that runs was not renewed in time.
func leaseOver(session sessions.Session, now time.Time) bool {
	return session.RunningTurnID != "" && !session.RunningUntil.After(now)
}

// start makes a pending session in_progress. Errors: Precondition session-closed (its token has run
// out).
func (s *Store) start(ctx context.Context, session sessions.Session, now time.Time) (after sessions.Session, err error) {
	err = s.sessions.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		_, err := s.sessions.StartTx(ctx, tx, row, now, false)
		after = *row
		return err
	})
	if err != nil {
		return after, err
	}
	return after, sessions.CheckOpen(after)
}

// takeFromLost takes the running turn from its node. One that is to be resumed here keeps the lease
// meanwhile, so that nobody else resumes it.
func (s *Store) takeFromLost(ctx context.Context, b beginning, now time.Time) error {
	return s.sessions.Locked(ctx, b.Session.TenantID, b.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if !leaseOver(*row, now) {
			return nil
		}
		if b.Resume && row.RunningTurnID != b.Turn {
			return turns.ErrTaken
		}
		if !b.Resume {
			return sessions.LoseTurnTx(ctx, tx, row, now)
		}
		if err := sessions.LoseAwaitedTurnTx(ctx, tx, row, now); err != nil {
			return err
		}
		turn, err := sessions.FindTurn(ctx, tx, *row, b.Turn)
		if err != nil || turn.Status != sessions.TurnInProgress { // it was lost too often
			return err
		}
		row.RunningTurnID, row.RunningUntil, row.RunningResponseID = b.Turn, now.Add(sessions.LeaseLife), b.holder
		return sessions.Update(ctx, tx, *row, "running_turn_id", "running_until", "running_response_id")
	})
}
