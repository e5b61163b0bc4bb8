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

const (
	// SweepBatch bounds one sweep, so that it never runs long; the next one continues.
	SweepBatch = 500
	// sweepTimeout ends a sweep whose connection hangs.
	sweepTimeout = 30 * time.Second
)

// Sweep closes and repairs sessions whose time is over: expired tokens, turns and sockets of lost
// nodes, dropped, idle and over-long sessions, and ends that no runner carried out. Any number of
// processes may call it, every second or so, beside Watch. While Postgres is not steady it does
// nothing but probe.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	now = now.UTC().Truncate(time.Microsecond) // read before the statements run: a slow database makes nothing stale
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	if s.health.Failing() {
		return s.health.Probe(ctx)
	}
	if !s.health.Steady() || !s.sweepReady() {
		return nil
	}
	err := s.sweep(ctx, now)
	s.health.Observe(err)
	return err
}

// Watch probes Postgres until ctx ends. Sweep depends on it: it declares nothing lost before
// Postgres has been steady for a while.
func (s *Service) Watch(ctx context.Context) {
	s.health.Disturb()
	s.health.Watch(ctx, nil)
}

// sweep drops stale sockets, then handles each overdue session in a transaction of its own.
func (s *Service) sweep(ctx context.Context, now time.Time) error {
	if err := s.dropStale(ctx, now); err != nil {
		return err
	}
	ids, err := selectOverdue(ctx, s.db, now)
	if err != nil {
		return err
	}
	var failures []error // one session's error must not keep the others open
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

// sweepTx handles one locked session.
func (s *Service) sweepTx(ctx context.Context, tx bun.Tx, session *Session, now time.Time) error {
	if session.Closed() || session.JournalUntil.After(now) {
		return nil
	}
	if session.Status == Pending {
		if session.TokenExpiresAt.After(now) {
			return nil
		}
		return s.CloseTx(ctx, tx, session, Failed, ReasonExpired, now)
	}
	if !session.AwaitsResume(now) {
		if err := LoseTurnTx(ctx, tx, session, now); err != nil {
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

// overdue returns why an open session is to end now; empty when it is not. While the session waits
// for a dropped socket, the idle time-out does not apply.
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

// dropStale removes the sockets whose nodes stopped their heartbeats.
func (s *Service) dropStale(ctx context.Context, now time.Time) error {
	var stale []Connection
	err := s.db.NewSelect().Model(&stale).Comment(postgres.AllTenants("the sweep of sockets of lost nodes")).
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

// sessionKey identifies a session in a statement.
type sessionKey struct {
	TenantID workspaces.TenantID `bun:"tenant_id"`
	ID       ID                  `bun:"id"`
}

// selectOverdue reads the open sessions that sweepTx must handle.
func selectOverdue(ctx context.Context, db *postgres.DB, now time.Time) ([]sessionKey, error) {
	open := func() *bun.SelectQuery {
		return db.NewSelect().Model((*Session)(nil)).Comment(postgres.AllTenants("the sweep of sessions")).
			Column("tenant_id", "id").Limit(SweepBatch)
	}
	var keys []sessionKey
	for _, query := range []*bun.SelectQuery{
		open().Where(wherePending).Where("s.token_expires_at <= ?", now).OrderExpr("s.token_expires_at"),
		open().Where(whereInProgress).WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("s.running_until <= ?", now).
				WhereOr("s.ending_at <= ?", now.Add(-EndGrace)).
				WhereOr("s.dropped_at <= ?", now.Add(-DropGrace)).
				WhereOr("s.started_at <= ?::timestamptz - make_interval(secs => s.max_duration_seconds)", now).
				WhereOr("s.dropped_at IS NULL AND s.running_turn_id IS NULL AND "+
					"s.last_activity_at <= ?::timestamptz - make_interval(secs => s.idle_timeout_seconds)", now)
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
