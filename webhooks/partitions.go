package webhooks

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

const (
	// partitionWidth is how many delivery ids a partition of webhook_attempts has. Migration 0036
	// has the same number.
	partitionWidth = 10_000_000
	// partitionsAhead is how many partitions exist beyond the one in use.
	partitionsAhead = 3
	// partitionAge is when deliveries go to the next partition.
	partitionAge = 24 * time.Hour
	// rollBelow is up to where in a partition deliveries are moved to the next one. Beyond it they
	// reach the next one soon by themselves.
	rollBelow = partitionWidth / 10 * 9
	// partitionsLock makes workers wait for each other. The name is that of earlier versions.
	partitionsLock = "parlance.webhooks.parts"
	// partitionLockTimeout bounds waiting for a lock on a partition, because later statements wait
	// behind that lock. The next run tries again.
	partitionLockTimeout = "SET LOCAL lock_timeout = '2s'"
)

// partition is a partition of webhook_attempts. It has the attempts of deliveries with ids from
// From to before To.
type partition struct {
	Name     string
	From, To int64
}

// partitionBound is how Postgres writes the bounds of a partition.
var partitionBound = regexp.MustCompile(`^FOR VALUES FROM \((MINVALUE|'\d+')\) TO \('(\d+)'\)$`)

// partitions lists the partitions in the order of their delivery ids.
func partitions(ctx context.Context, db bun.IDB) ([]partition, error) {
	var rows []struct {
		Name  string `bun:"name"`
		Bound string `bun:"bound"`
	}
	err := db.NewRaw(postgres.RawForAllTenants("partitions are those of all tenants", `
SELECT c.relname AS name,
       pg_get_expr(c.relpartbound, c.oid) AS bound
FROM pg_inherits AS i
JOIN pg_class AS c ON c.oid = i.inhrelid
WHERE i.inhparent = 'webhook_attempts'::regclass
ORDER BY substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''(\d+)')::bigint`)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of webhook_attempts: %w", err)
	}
	list := make([]partition, 0, len(rows))
	for _, row := range rows {
		if row.Bound == "" { // dropped since the catalog was read
			continue
		}
		found := partitionBound.FindStringSubmatch(row.Bound)
		if found == nil {
			return nil, fmt.Errorf("partition %s of webhook_attempts has unknown bounds %q", row.Name, row.Bound)
		}
		one := partition{Name: row.Name}
		if first, err := strconv.ParseInt(found[1][1:len(found[1])-1], 10, 64); err == nil { // else MINVALUE
			one.From = first
		}
		if one.To, err = strconv.ParseInt(found[2], 10, 64); err != nil {
			return nil, fmt.Errorf("read the bounds of %s: %w", row.Name, err)
		}
		list = append(list, one)
	}
	return list, nil
}

// lastDelivery is the newest delivery id.
func lastDelivery(ctx context.Context, db bun.IDB) (id int64, err error) {
	if err := db.NewRaw("SELECT last_value FROM webhook_deliveries_id_seq").Scan(ctx, &id); err != nil {
		return 0, fmt.Errorf("read the last delivery id: %w", err)
	}
	return id, nil
}

// preparePartitions creates partitions ahead. When the one in use is a day old it moves deliveries
// to the next one, by setting their sequence, so that a partition has the deliveries of a day.
func (s *Service) preparePartitions(ctx context.Context, now time.Time) error {
	ready, err := partitionsReady(ctx, s.db, now)
	if err != nil || ready {
		return err
	}
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, partitionLockTimeout); err != nil {
			return fmt.Errorf("set the lock timeout: %w", err)
		}
		if err := postgres.LockTx(ctx, tx, partitionsLock); err != nil {
			return err
		}
		last, err := lastDelivery(ctx, tx)
		if err != nil {
			return err
		}
		if err := createPartitions(ctx, tx, last/partitionWidth); err != nil {
			return err
		}
		aged, err := partitionAged(ctx, tx, last, now)
		if err != nil || !aged {
			return err
		}
		_, err = tx.ExecContext(ctx, "SELECT setval('webhook_deliveries_id_seq', ?, false)", (last/partitionWidth+1)*partitionWidth)
		if err != nil {
			return fmt.Errorf("move deliveries to the next partition: %w", err)
		}
		return nil
	})
}

// partitionsReady says whether preparePartitions has nothing to do.
func partitionsReady(ctx context.Context, db bun.IDB, now time.Time) (bool, error) {
	last, err := lastDelivery(ctx, db)
	if err != nil {
		return false, err
	}
	list, err := partitions(ctx, db)
	if err != nil || len(list) == 0 || list[len(list)-1].To < (last/partitionWidth+1+partitionsAhead)*partitionWidth {
		return false, err
	}
	aged, err := partitionAged(ctx, db, last, now)
	return !aged, err
}

// partitionAged says whether the partition of the newest delivery is a day old and not nearly full.
func partitionAged(ctx context.Context, db bun.IDB, last int64, now time.Time) (bool, error) {
	if last%partitionWidth >= rollBelow {
		return false, nil
	}
	var oldest []time.Time
	err := db.NewRaw(postgres.RawForAllTenants("partitions are those of all tenants", `
SELECT created_at
FROM webhook_deliveries
WHERE id >= ?
ORDER BY id
LIMIT 1`), last/partitionWidth*partitionWidth).Scan(ctx, &oldest)
	if err != nil {
		return false, fmt.Errorf("look how old a partition is: %w", err)
	}
	return len(oldest) > 0 && now.Sub(oldest[0]) >= partitionAge, nil
}

// createPartitions creates what is missing of partition number first and those after it. A
// partition gets its indexes before it is attached. Attaching takes a short lock that stops no
// reader or writer.
func createPartitions(ctx context.Context, tx bun.Tx, first int64) error {
	list, err := partitions(ctx, tx)
	if err != nil {
		return err
	}
	exists := map[int64]bool{}
	for _, p := range list {
		for number := max(p.From/partitionWidth, first); number < p.To/partitionWidth && number <= first+partitionsAhead; number++ {
			exists[number] = true
		}
	}
	for number := first; number <= first+partitionsAhead; number++ {
		if exists[number] {
			continue
		}
		name := fmt.Sprintf("webhook_attempts_%d", number)
		for _, statement := range []string{
			"CREATE TABLE " + name + " (LIKE webhook_attempts INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES) WITH (fillfactor = 80)",
			"CREATE UNIQUE INDEX " + name + "_id ON " + name + " (id)",
			fmt.Sprintf("ALTER TABLE webhook_attempts ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)",
				name, number*partitionWidth, (number+1)*partitionWidth),
		} {
			if _, err := tx.ExecContext(ctx, postgres.RawForAllTenants("partitions are those of all tenants", statement)); err != nil {
				return fmt.Errorf("create %s: %w", name, err)
			}
		}
	}
	return nil
}
