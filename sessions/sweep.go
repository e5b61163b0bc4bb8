package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Sweep closes and repairs what time has overtaken: tokens that ran out, turns whose node died,
// sockets whose node died, drops, idle and over-long sessions, ends that nobody carried out. It
// is harmless beside its double. Call it every second or so, beside Watch: behind an outage it waits.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	now = now.UTC().Truncate(time.Microsecond) // of before Postgres is asked: what was fresh then is not stale because that took long
	ctx, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	if s.health.Failing() {
		return s.health.Probe(ctx)
	}
	if !s.health.Steady() || !s.mayLose() {
		return nil
	}
	err := s.sweep(ctx, now)
	s.health.Observe(err)
	return err
}

func (s *Service) sweep(ctx context.Context, now time.Time) error {
	if err := s.dropStale(ctx, now); err != nil {
		return err
	}
	ids, err := selectOverdue(ctx, s.db, now)
	if err != nil {
		return err
	}
	var failures []error // one session's trouble must not keep the others open
	for _, key := range ids {
		err := s.Locked(ctx, key.TenantID, key.ID, func(ctx context.Context, tx bun.Tx, session *Session) error {
			return s.sweepTx(ctx, tx, session, now)
		})
		if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
			failures = append(failures, fmt.Errorf("sweeping session %s: %w", key.ID, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failures...)
}

// sweepTx does what is due to one locked session.
func (s *Service) sweepTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time) error {
	if session.Closed() || session.SpillUntil.After(now) {
		return nil
	}
	if session.Status == Pending {
		if session.TokenExpiresAt.After(now) {
			return nil
		}
		return s.CloseTx(ctx, tx, session, Broken, ReasonExpired, now)
	}
	if !session.AwaitsResume(now) {
		if err := LoseTurnTx(ctx, tx, session, now, false); err != nil {
			return err
		}
	}
	if !session.EndingAt.IsZero() {
		if now.Sub(session.EndingAt) >= EndGrace {
			return s.CloseTx(ctx, tx, session, session.EndingStatus, session.EndingReason, now)
		}
		return nil
	}
	if reason := overdue(*session, now); reason != "" {
		return s.EndTx(ctx, tx, session, Completed, reason, now)
	}
	return nil
}

// overdue is why an open session is to be ended now; empty when it is not. While it waits for a
// lost socket the drop decides, not the silence.
func overdue(session Session, now time.Time) string {
	switch {
	case now.Sub(session.StartedAt) >= time.Duration(session.MaxDurationSeconds)*time.Second:
		return ReasonMaxDuration
	case !session.DroppedAt.IsZero():
		if now.Sub(session.DroppedAt) >= DropGrace {
			return ReasonDisconnected
		}
	case session.RunningTurnID == "" && now.Sub(session.LastActivityAt) >= time.Duration(session.IdleTimeoutSeconds)*time.Second:
		return ReasonIdle
	}
	return ""
}

// dropStale removes the sockets whose node has stopped to refresh them; a session that has none
// left is dropped since they were last seen.
func (s *Service) dropStale(ctx context.Context, now time.Time) error {
	var stale []Connection
	err := s.db.NewSelect().Model(&stale).Comment(postgres.AllTenants("the sweep of sockets whose node died")).
		Where("c.seen_at < ?", now.Add(-connectionLife)).Limit(SweepBatch).Scan(ctx)
	if err != nil {
		return fmt.Errorf("reading stale connections: %w", err)
	}
	for _, c := range stale {
		err := s.Locked(ctx, c.TenantID, c.SessionID, func(ctx context.Context, tx bun.Tx, session *Session) error {
			_, err := LeaveTx(ctx, tx, session, c.Number, c.SeenAt)
			return err
		})
		if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
			return fmt.Errorf("dropping a stale connection: %w", err)
		}
	}
	return nil
}

// leaveTx removes a socket of a locked session and says whether it was the last. The session
// then waits from at on.
func LeaveTx(ctx context.Context, tx bun.Tx, session *Session, number int64, at time.Time) (last bool, err error) {
	gone, err := deleteConnection(ctx, tx, session.TenantID, session.ID, number)
	if err != nil || !gone || session.Closed() {
		return false, err
	}
	left, err := countConnections(ctx, tx, session.TenantID, session.ID)
	if err != nil || left > 0 {
		return false, err
	}
	session.DroppedAt = at
	return true, Update(ctx, tx, *session, "dropped_at")
}

const (
	// sweepBatch bounds one sweep, so that it never runs long; the next one goes on.
	SweepBatch = 500
	// sweepWithin is for a sweep whose connection was lost without a word.
	sweepWithin = 30 * time.Second
)

// sessionKey names a session in a statement.
type sessionKey struct {
	TenantID workspaces.TenantID `bun:"tenant_id"`
	ID       ID                  `bun:"id"`
}

// selectOverdue finds the open sessions that sweepTx has something to do with.
func selectOverdue(ctx context.Context, db *postgres.DB, now time.Time) ([]sessionKey, error) {
	open := func() *bun.SelectQuery {
		return db.NewSelect().Model((*Session)(nil)).Comment(postgres.AllTenants("the sweep of sessions")).Column("tenant_id", "id").Limit(SweepBatch)
	}
	var keys []sessionKey
	for _, query := range []*bun.SelectQuery{
		open().Where(isPending).Where("s.token_expires_at <= ?", now).OrderExpr("s.token_expires_at"),
		open().Where(isLive).WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("s.running_until <= ?", now).
				WhereOr("s.ending_at <= ?", now.Add(-EndGrace)).
				WhereOr("s.dropped_at <= ?", now.Add(-DropGrace)).
				WhereOr("s.started_at <= ?::timestamptz - make_interval(secs => s.max_duration_seconds)", now).
				WhereOr("s.dropped_at IS NULL AND s.running_turn_id IS NULL AND s.last_activity_at <= ?::timestamptz - make_interval(secs => s.idle_timeout_seconds)", now)
		}).OrderExpr("s.created_at"),
	} {
		var found []sessionKey
		if err := query.Scan(ctx, &found); err != nil {
			return nil, fmt.Errorf("reading overdue sessions: %w", err)
		}
		keys = append(keys, found...)
	}
	return keys, nil
}

// Watch probes Postgres until ctx ends, for Sweep, which takes nothing for lost before it has seen Postgres answer
// for a while.
func (s *Service) Watch(ctx context.Context) {
	s.health.Disturb()
	s.health.Watch(ctx, nil)
}
