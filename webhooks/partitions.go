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
	// partWidth is how many deliveries' attempts a part of webhook_attempts holds at most. Migration
	// 0036 has the same number.
	partWidth = 10_000_000
	// partsAhead is how many parts there are beyond the one in use.
	partsAhead = 3
	// partAge is when deliveries go on to the next part.
	partAge = 24 * time.Hour
	// rollBelow is how full a part may be to be left for the next one: near its end deliveries get
	// there by themselves, perhaps just now.
	rollBelow = partWidth / 10 * 9
	// partsLock makes workers wait for each other.
	partsLock = "parlance.webhooks.parts"
	// partPatience bounds waiting for statements that use a table which is changed: whoever comes
	// after them waits as long. The next run tries again.
	partPatience = "SET LOCAL lock_timeout = '2s'"
)

// part is a partition of webhook_attempts: the attempts of the deliveries From to before To.
type part struct {
	Name     string
	From, To int64
}

// partBound is how Postgres writes the bounds of a part.
var partBound = regexp.MustCompile(`^FOR VALUES FROM \((MINVALUE|'\d+')\) TO \('(\d+)'\)$`)

// parts lists the parts in the order of their deliveries.
func parts(ctx context.Context, db bun.IDB) ([]part, error) {
	var rows []struct {
		Name  string `bun:"name"`
		Bound string `bun:"bound"`
	}
	err := db.NewRaw(postgres.RawForAllTenants("the parts of a table are everybody's", `
SELECT c.relname AS name,
       pg_get_expr(c.relpartbound, c.oid) AS bound
FROM pg_inherits AS i
JOIN pg_class AS c ON c.oid = i.inhrelid
WHERE i.inhparent = 'webhook_attempts'::regclass
ORDER BY substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''(\d+)')::bigint`)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("list the parts of webhook_attempts: %w", err)
	}
	list := make([]part, 0, len(rows))
	for _, row := range rows {
		if row.Bound == "" { // dropped while we asked: the catalog is of before, the expression of now
			continue
		}
		found := partBound.FindStringSubmatch(row.Bound)
		if found == nil {
			return nil, fmt.Errorf("part %s of webhook_attempts has the bounds %q, which are none of ours", row.Name, row.Bound)
		}
		one := part{Name: row.Name}
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

// lastDelivery is the number that a delivery got last.
func lastDelivery(ctx context.Context, db bun.IDB) (id int64, err error) {
	if err := db.NewRaw("SELECT last_value FROM webhook_deliveries_id_seq").Scan(ctx, &id); err != nil {
		return 0, fmt.Errorf("read the last number of deliveries: %w", err)
	}
	return id, nil
}

// prepareParts makes the parts that deliveries will come to, and leads deliveries to the next one
// when the one in use is a day old, so that a part goes when its day is past its time.
func (s *Service) prepareParts(ctx context.Context, now time.Time) error {
	ready, err := partsReady(ctx, s.db, now)
	if err != nil || ready {
		return err
	}
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, partPatience); err != nil {
			return fmt.Errorf("bound waiting: %w", err)
		}
		if err := postgres.LockTx(ctx, tx, partsLock); err != nil {
			return err
		}
		last, err := lastDelivery(ctx, tx)
		if err != nil {
			return err
		}
		if err := makeParts(ctx, tx, last/partWidth); err != nil {
			return err
		}
		aged, err := partAged(ctx, tx, last, now)
		if err != nil || !aged {
			return err
		}
		_, err = tx.ExecContext(ctx, "SELECT setval('webhook_deliveries_id_seq', ?, false)", (last/partWidth+1)*partWidth)
		if err != nil {
			return fmt.Errorf("go on to the next part: %w", err)
		}
		return nil
	})
}

// partsReady says that there is nothing to prepare.
func partsReady(ctx context.Context, db bun.IDB, now time.Time) (bool, error) {
	last, err := lastDelivery(ctx, db)
	if err != nil {
		return false, err
	}
	list, err := parts(ctx, db)
	if err != nil || len(list) == 0 || list[len(list)-1].To < (last/partWidth+1+partsAhead)*partWidth {
		return false, err
	}
	aged, err := partAged(ctx, db, last, now)
	return !aged, err
}

// partAged says that the part of the delivery made last was begun a day ago and has room enough.
func partAged(ctx context.Context, db bun.IDB, last int64, now time.Time) (bool, error) {
	if last%partWidth >= rollBelow {
		return false, nil
	}
	var begun []time.Time
	err := db.NewRaw(postgres.RawForAllTenants("the parts of a table are everybody's", `
SELECT created_at
FROM webhook_deliveries
WHERE id >= ?
ORDER BY id
LIMIT 1`), last/partWidth*partWidth).Scan(ctx, &begun)
	if err != nil {
		return false, fmt.Errorf("look when a part was begun: %w", err)
	}
	return len(begun) > 0 && now.Sub(begun[0]) >= partAge, nil
}

// makeParts makes what is missing of a part and those after it. A part is filled with indexes
// before it is joined to the table, which then is locked for a moment and not against its readers
// and writers.
func makeParts(ctx context.Context, tx bun.Tx, first int64) error {
	list, err := parts(ctx, tx)
	if err != nil {
		return err
	}
	there := map[int64]bool{}
	for _, p := range list {
		for cell := max(p.From/partWidth, first); cell < p.To/partWidth && cell <= first+partsAhead; cell++ {
			there[cell] = true
		}
	}
	for cell := first; cell <= first+partsAhead; cell++ {
		if there[cell] {
			continue
		}
		name := fmt.Sprintf("webhook_attempts_%d", cell)
		for _, statement := range []string{
			"CREATE TABLE " + name + " (LIKE webhook_attempts INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES) WITH (fillfactor = 80)",
			"CREATE UNIQUE INDEX " + name + "_id ON " + name + " (id)",
			fmt.Sprintf("ALTER TABLE webhook_attempts ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", name, cell*partWidth, (cell+1)*partWidth),
		} {
			if _, err := tx.ExecContext(ctx, postgres.RawForAllTenants("the parts of a table are everybody's", statement)); err != nil {
				return fmt.Errorf("make %s: %w", name, err)
			}
		}
	}
	return nil
}
