package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

const (
	// expireBatch is how many rows go in one statement.
	expireBatch = 2000
	// expireFor bounds a run: what is left goes in the next one.
	expireFor = 2 * time.Minute
)

// Sweep makes parts of webhook_attempts ahead and removes events, deliveries and attempts that are
// older than Deps.Retention; never a delivery that is pending, nor its event and attempts. Harmless
// beside its double. It implements worker.Housekeeper.
//
// The attempts, which are nearly all of the volume, go with a part as a whole; the other rows go
// one by one, because the keys that make a delivery the only one of its event and endpoint must
// hold over all of them, whenever they were made.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	err := s.prepareParts(ctx, now)
	if s.retention == 0 {
		return err
	}
	cutoff := now.Add(-s.retention)
	ctx, cancel := context.WithTimeout(ctx, expireFor)
	defer cancel()
	return errors.Join(err, s.expireParts(ctx, cutoff), s.expireEvents(ctx, cutoff))
}

// expireParts removes the deliveries and attempts of parts whose newest delivery is past its time.
func (s *Service) expireParts(ctx context.Context, cutoff time.Time) error {
	list, err := parts(ctx, s.db)
	if err != nil {
		return err
	}
	last, err := lastDelivery(ctx, s.db)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.To > last {
			break // in use, or ahead
		}
		if err := s.expirePart(ctx, p, cutoff); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) expirePart(ctx context.Context, p part, cutoff time.Time) error {
	var newest []time.Time
	err := s.db.NewRaw(postgres.RawForAllTenants("what is past its time goes, whosever it is", `
SELECT created_at
FROM webhook_deliveries
WHERE id >= ?
  AND id < ?
ORDER BY id DESC
LIMIT 1`), p.From, p.To).Scan(ctx, &newest)
	if err != nil {
		return fmt.Errorf("look how old %s is: %w", p.Name, err)
	}
	if len(newest) > 0 && !newest[0].Before(cutoff) {
		return nil
	}
	if err := s.clearPart(ctx, p); err != nil {
		return err
	}
	left, err := s.expireDeliveries(ctx, p, cutoff)
	if err != nil || left {
		return err
	}
	return s.dropPart(ctx, p)
}

const anyPendingSQL = `
SELECT EXISTS (
    SELECT
    FROM webhook_deliveries
    WHERE status = 'pending'
      AND id >= ?
      AND id < ?
)`

// clearPart empties a part at once, unless one of its deliveries is pending.
func (s *Service) clearPart(ctx context.Context, p part) error {
	var pending bool
	err := s.db.NewRaw(postgres.RawForAllTenants("what is past its time goes, whosever it is", anyPendingSQL), p.From, p.To).Scan(ctx, &pending)
	if err != nil {
		return fmt.Errorf("look whether %s has something to deliver: %w", p.Name, err)
	}
	if pending {
		return nil // without the lock
	}
	return s.changePart(ctx, p, "TRUNCATE "+p.Name, anyPendingSQL)
}

// dropPart removes a part that has no deliveries any more.
func (s *Service) dropPart(ctx context.Context, p part) error {
	return s.changePart(ctx, p, "DROP TABLE IF EXISTS "+p.Name, `SELECT EXISTS (SELECT FROM webhook_deliveries WHERE id >= ? AND id < ?)`)
}

// errKept says that a part is still needed.
var errKept = errors.New("kept")

// changePart runs a statement that locks the part, and takes it back when the question, asked under
// that lock, is answered with yes: nobody can begin an attempt in between.
func (s *Service) changePart(ctx context.Context, p part, statement, unless string) error {
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, partPatience); err != nil {
			return fmt.Errorf("bound waiting: %w", err)
		}
		if err := postgres.LockTx(ctx, tx, partsLock); err != nil {
			return err
		}
		var there bool
		if err := tx.NewRaw("SELECT to_regclass(?) IS NOT NULL", p.Name).Scan(ctx, &there); err != nil {
			return fmt.Errorf("look for %s: %w", p.Name, err)
		}
		if !there { // another worker was faster
			return nil
		}
		if _, err := tx.ExecContext(ctx, postgres.RawForAllTenants("what is past its time goes, whosever it is", statement)); err != nil {
			return fmt.Errorf("remove %s: %w", p.Name, err)
		}
		var kept bool
		err := tx.NewRaw(postgres.RawForAllTenants("what is past its time goes, whosever it is", unless), p.From, p.To).Scan(ctx, &kept)
		if err != nil {
			return fmt.Errorf("look who needs %s: %w", p.Name, err)
		}
		if kept {
			return errKept
		}
		return nil
	})
	if errors.Is(err, errKept) {
		return nil
	}
	return err
}

// expireDeliveries removes the deliveries of a part that are not pending, and says whether some are
// left.
func (s *Service) expireDeliveries(ctx context.Context, p part, cutoff time.Time) (left bool, err error) {
	for {
		result, err := s.db.ExecContext(ctx, postgres.RawForAllTenants("what is past its time goes, whosever it is", `
DELETE FROM webhook_deliveries
WHERE id IN (
    SELECT id
    FROM webhook_deliveries
    WHERE id >= ?
      AND id < ?
      AND status <> 'pending'
      AND created_at < ?
    ORDER BY id
    LIMIT ?
    FOR UPDATE SKIP LOCKED
)`), p.From, p.To, cutoff, expireBatch)
		if err != nil {
			return true, fmt.Errorf("remove old deliveries: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n < expireBatch {
			var some bool
			err = errors.Join(err, s.db.NewRaw(postgres.RawForAllTenants("what is past its time goes, whosever it is",
				"SELECT EXISTS (SELECT FROM webhook_deliveries WHERE id >= ? AND id < ?)"), p.From, p.To).Scan(ctx, &some))
			return some, err
		}
	}
}

// expireSQL removes a page of old events that no delivery needs, and notes up to where feeds have
// lost some.
const expireSQL = `
WITH page AS (
    SELECT seq,
           created_at
    FROM events
    WHERE seq > ?
    ORDER BY seq
    LIMIT ?
), gone AS (
    DELETE FROM events AS e
    USING page
    WHERE e.seq = page.seq
      AND e.created_at < ?
      AND e.relayed_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM webhook_deliveries AS d WHERE d.event_seq = e.seq)
    RETURNING e.tenant_id, e.workspace_id, e.position
), noted AS (
    INSERT INTO event_feed_floors AS f (tenant_id, workspace_id, position)
    SELECT tenant_id, workspace_id, max(position)
    FROM gone
    WHERE position IS NOT NULL
    GROUP BY tenant_id, workspace_id
    ORDER BY tenant_id, workspace_id
    ON CONFLICT (tenant_id, workspace_id) DO UPDATE SET position = greatest(f.position, excluded.position)
)
SELECT coalesce(max(seq), 0) AS last,
       count(*) FILTER (WHERE created_at < ?) AS old
FROM page`

// expireEvents removes old events from the first on, until a page has none.
func (s *Service) expireEvents(ctx context.Context, cutoff time.Time) error {
	page := struct {
		Last int64 `bun:"last"`
		Old  int   `bun:"old"`
	}{}
	for {
		err := s.db.NewRaw(postgres.RawForAllTenants("what is past its time goes, whosever it is", expireSQL),
			page.Last, expireBatch, cutoff, cutoff).Scan(ctx, &page)
		if err != nil {
			return postgres.MapError(fmt.Errorf("remove old events: %w", err))
		}
		if page.Old == 0 {
			return nil
		}
	}
}
