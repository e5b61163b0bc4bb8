package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
)

const (
	// expireBatch is how many rows one statement deletes.
	expireBatch = 2000
	// expireFor bounds a run. The next run deletes the rest.
	expireFor = 2 * time.Minute
)

// Sweep creates partitions of webhook_attempts ahead and deletes events, deliveries and attempts
// that are older than Deps.Retention; never a pending delivery, nor its event and attempts.
// Two sweeps at once are harmless.
//
// Attempts, which are nearly all of the volume, are deleted with their partition. The other tables
// are not partitioned, because the key that makes a delivery the only one of its event and endpoint
// must hold over all rows; their rows are deleted in batches.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	err := s.preparePartitions(ctx, now)
	if s.retention == 0 {
		return err
	}
	cutoff := now.Add(-s.retention)
	ctx, cancel := context.WithTimeout(ctx, expireFor)
	defer cancel()
	return errors.Join(err, s.expirePartitions(ctx, cutoff), s.expireEvents(ctx, cutoff))
}

// expirePartitions deletes the deliveries and attempts of partitions whose newest delivery is older
// than cutoff.
func (s *Service) expirePartitions(ctx context.Context, cutoff time.Time) error {
	list, err := partitions(ctx, s.db)
	if err != nil {
		return err
	}
	last, err := lastDelivery(ctx, s.db)
	if err != nil {
		return err
	}
	writers, err := deliveryWriters(ctx, s.db)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.To > last {
			break // in use, or ahead
		}
		if err := s.expirePartition(ctx, p, cutoff, writers); err != nil {
			return err
		}
	}
	return nil
}

// deliveryWriters lists the transactions that write to webhook_deliveries. Those that insert have
// this lock before they take an id, so after lastDelivery all others have ids beyond it.
func deliveryWriters(ctx context.Context, db bun.IDB) (writers []string, err error) {
	err = db.NewRaw(`
SELECT DISTINCT virtualtransaction
FROM pg_locks
WHERE relation = 'webhook_deliveries'::regclass
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND mode = 'RowExclusiveLock'`).Scan(ctx, &writers)
	if err != nil {
		return nil, fmt.Errorf("list who writes deliveries: %w", err)
	}
	return writers, nil
}

// anyRuns says whether one of the transactions has not ended.
func anyRuns(ctx context.Context, db bun.IDB, transactions []string) (runs bool, err error) {
	err = db.NewRaw("SELECT EXISTS (SELECT FROM pg_locks WHERE virtualtransaction = ANY (?::text[]))",
		pgdialect.Array(transactions)).Scan(ctx, &runs)
	if err != nil {
		return false, fmt.Errorf("look whether transactions have ended: %w", err)
	}
	return runs, nil
}

// expirePartition deletes what a partition has, if all of it is old. It keeps the empty partition
// while one of writers runs, whose deliveries may belong to it and cannot be seen yet.
func (s *Service) expirePartition(ctx context.Context, p partition, cutoff time.Time, writers []string) error {
	var newest []time.Time
	err := s.db.NewRaw(postgres.RawForAllTenants("retention deletes old rows of all tenants", `
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
	if err := s.truncatePartition(ctx, p); err != nil {
		return err
	}
	left, err := s.expireDeliveries(ctx, p, cutoff)
	if err != nil || left {
		return err
	}
	if writing, err := anyRuns(ctx, s.db, writers); err != nil || writing {
		return err
	}
	return s.dropPartition(ctx, p)
}

const anyPendingSQL = `
SELECT EXISTS (
    SELECT
    FROM webhook_deliveries
    WHERE status = 'pending'
      AND id >= ?
      AND id < ?
)`

// truncatePartition deletes all attempts of a partition, unless one of its deliveries is pending.
func (s *Service) truncatePartition(ctx context.Context, p partition) error {
	var pending bool
	err := s.db.NewRaw(postgres.RawForAllTenants("retention deletes old rows of all tenants", anyPendingSQL), p.From, p.To).Scan(ctx, &pending)
	if err != nil {
		return fmt.Errorf("look for pending deliveries of %s: %w", p.Name, err)
	}
	if pending {
		return nil // without taking the lock
	}
	return s.changePartition(ctx, p, "TRUNCATE "+p.Name, anyPendingSQL)
}

// dropPartition drops a partition without deliveries.
func (s *Service) dropPartition(ctx context.Context, p partition) error {
	return s.changePartition(ctx, p, "DROP TABLE IF EXISTS "+p.Name, `SELECT EXISTS (SELECT FROM webhook_deliveries WHERE id >= ? AND id < ?)`)
}

// errStillUsed rolls back a change of a partition that is still used.
var errStillUsed = errors.New("still used")

// changePartition runs a statement that locks the partition, and rolls it back when the query
// unless returns true. The query runs under that lock, so that no attempt is inserted in between.
func (s *Service) changePartition(ctx context.Context, p partition, statement, unless string) error {
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, partitionLockTimeout); err != nil {
			return fmt.Errorf("set the lock timeout: %w", err)
		}
		if err := postgres.LockTx(ctx, tx, partitionsLock); err != nil {
			return err
		}
		var exists bool
		if err := tx.NewRaw("SELECT to_regclass(?) IS NOT NULL", p.Name).Scan(ctx, &exists); err != nil {
			return fmt.Errorf("look for %s: %w", p.Name, err)
		}
		if !exists { // another worker dropped it
			return nil
		}
		if _, err := tx.ExecContext(ctx, postgres.RawForAllTenants("retention deletes old rows of all tenants", statement)); err != nil {
			return fmt.Errorf("change %s: %w", p.Name, err)
		}
		var used bool
		err := tx.NewRaw(postgres.RawForAllTenants("retention deletes old rows of all tenants", unless), p.From, p.To).Scan(ctx, &used)
		if err != nil {
			return fmt.Errorf("look whether %s is used: %w", p.Name, err)
		}
		if used {
			return errStillUsed
		}
		return nil
	})
	if errors.Is(err, errStillUsed) {
		return nil
	}
	return err
}

// expireDeliveries deletes the old deliveries of a partition that are not pending, and says whether
// some are left.
func (s *Service) expireDeliveries(ctx context.Context, p partition, cutoff time.Time) (left bool, err error) {
	for {
		result, err := s.db.ExecContext(ctx, postgres.RawForAllTenants("retention deletes old rows of all tenants", `
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
			return true, fmt.Errorf("delete old deliveries: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n < expireBatch {
			var some bool
			err = errors.Join(err, s.db.NewRaw(postgres.RawForAllTenants("retention deletes old rows of all tenants",
				"SELECT EXISTS (SELECT FROM webhook_deliveries WHERE id >= ? AND id < ?)"), p.From, p.To).Scan(ctx, &some))
			return some, err
		}
	}
}

// pageSQL is a page of events.
const pageSQL = `
    SELECT seq,
           created_at
    FROM events
    WHERE seq > ?
    ORDER BY seq
    LIMIT ?`

// unused is the condition under which event e can be deleted at its age.
const unused = `e.created_at < ?
  AND e.relayed_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM webhook_deliveries AS d WHERE d.event_seq = e.seq)`

// lockOldSQL locks the events of a page that can be deleted, but not one that somebody is making a
// delivery of.
const lockOldSQL = `
WITH page AS (` + pageSQL + `
)
SELECT e.seq
FROM events AS e
JOIN page USING (seq)
WHERE ` + unused + `
FOR UPDATE OF e SKIP LOCKED`

// expireSQL deletes those of a page's events that are locked and have got no deliveries before, and
// stores up to which position each feed has lost events.
const expireSQL = `
WITH page AS (` + pageSQL + `
), deleted AS (
    DELETE FROM events AS e
    WHERE e.seq = ANY (?)
      AND ` + unused + `
    RETURNING e.tenant_id, e.workspace_id, e.position
), floors AS (
    INSERT INTO event_feed_floors AS f (tenant_id, workspace_id, position)
    SELECT tenant_id, workspace_id, max(position)
    FROM deleted
    WHERE position IS NOT NULL
    GROUP BY tenant_id, workspace_id
    ORDER BY tenant_id, workspace_id
    ON CONFLICT (tenant_id, workspace_id) DO UPDATE SET position = greatest(f.position, excluded.position)
)
SELECT coalesce(max(seq), 0) AS last,
       count(*) FILTER (WHERE created_at < ?) AS old
FROM page`

// eventPage is what expirePage has seen.
type eventPage struct {
	Last int64 `bun:"last"`
	Old  int   `bun:"old"`
}

// expireEvents deletes old events page by page, until a page has none.
func (s *Service) expireEvents(ctx context.Context, cutoff time.Time) error {
	for last := int64(0); ; {
		page, err := s.expirePage(ctx, last, cutoff)
		if err != nil || page.Old == 0 {
			return err
		}
		last = page.Last
	}
}

// expirePage deletes the old events of the page after last. It locks them in a statement of their
// own, so that the next one sees the deliveries that were made of them until then.
func (s *Service) expirePage(ctx context.Context, last int64, cutoff time.Time) (page eventPage, err error) {
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		var old []int64
		err := tx.NewRaw(postgres.RawForAllTenants("retention deletes old rows of all tenants", lockOldSQL),
			last, expireBatch, cutoff).Scan(ctx, &old)
		if err != nil {
			return fmt.Errorf("lock old events: %w", err)
		}
		err = tx.NewRaw(postgres.RawForAllTenants("retention deletes old rows of all tenants", expireSQL),
			last, expireBatch, pgdialect.Array(old), cutoff, cutoff).Scan(ctx, &page)
		if err != nil {
			return fmt.Errorf("delete old events: %w", err)
		}
		return nil
	})
	return page, err
}
