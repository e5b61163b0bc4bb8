package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const (
	// foldLock makes folds wait for each other: all of them add to the same rows.
	foldLock = "parlance.usage.fold"
	// foldAtOnce bounds the records of one fold.
	foldAtOnce = 5000
	// recordLife is how long counted records are kept.
	recordLife = 45 * 24 * time.Hour
	// deleteAtOnce bounds the records that one statement deletes.
	deleteAtOnce = 10_000
)

// foldSQL adds records to the sums, and returns the months that have changed. Of kb_bytes it
// returns the workspaces. Parameter: the bound.
const foldSQL = `
WITH picked AS (
    SELECT r.seq
    FROM usage_records AS r
    WHERE NOT r.counted
    ORDER BY r.seq
    LIMIT ?
    FOR UPDATE
), counted AS (
    UPDATE usage_records AS r
    SET counted = true
    FROM picked
    WHERE r.seq = picked.seq
    RETURNING r.*
), dated AS (
    SELECT c.*,
           (c.at AT TIME ZONE t.timezone)::date AS day
    FROM counted AS c
    JOIN tenants AS t ON t.id = c.tenant_id
), days AS (
    INSERT INTO usage_days AS d (tenant_id, day, workspace_id, agent_id, meter, model, quantity, cost)
    SELECT tenant_id, day, workspace_id, agent_id, meter, model, sum(quantity), coalesce(sum(cost), 0)
    FROM dated
    GROUP BY tenant_id, day, workspace_id, agent_id, meter, model
    ON CONFLICT (tenant_id, day, workspace_id, agent_id, meter, model) DO UPDATE
    SET quantity = d.quantity + excluded.quantity,
        cost = d.cost + excluded.cost
), months AS (
    INSERT INTO usage_months AS m (tenant_id, month, meter, quantity, cost)
    SELECT dated.tenant_id, date_trunc('month', dated.day)::date, named.meter, sum(dated.quantity), coalesce(sum(dated.cost), 0)
    FROM dated
    CROSS JOIN LATERAL unnest(CASE
        WHEN dated.meter IN ('input_tokens', 'output_tokens') THEN ARRAY[dated.meter, 'tokens']
        ELSE ARRAY[dated.meter]
    END) AS named (meter)
    WHERE dated.meter <> 'kb_bytes'
    GROUP BY 1, 2, 3
    ON CONFLICT (tenant_id, month, meter) DO UPDATE
    SET quantity = m.quantity + excluded.quantity,
        cost = m.cost + excluded.cost
    RETURNING m.tenant_id, m.month, m.meter, m.quantity
)
SELECT tenant_id, month::text AS month, meter, '' AS workspace_id, quantity, (SELECT count(*) FROM picked) AS records
FROM months
UNION ALL
SELECT d.tenant_id, date_trunc('month', d.day)::date::text, d.meter, w.id, w.kb_used_bytes, (SELECT count(*) FROM picked)
FROM (SELECT tenant_id, workspace_id, meter, max(day) AS day FROM dated WHERE meter = 'kb_bytes' GROUP BY 1, 2, 3) AS d
JOIN workspaces AS w ON w.tenant_id = d.tenant_id AND w.id = d.workspace_id`

// changed is a sum that a fold has changed.
type changed struct {
	TenantID workspaces.TenantID `bun:"tenant_id"`
	// Month is its first day, 2006-01-02.
	Month       string        `bun:"month"`
	Meter       Meter         `bun:"meter"`
	WorkspaceID workspaces.ID `bun:"workspace_id"`
	Quantity    int64         `bun:"quantity"`
	Records     int           `bun:"records"`
}

// Fold adds the records that are not counted yet to the sums, and announces thresholds that are
// crossed. Any number of processes may call it; each record is added once.
func (s *Service) Fold(ctx context.Context, now time.Time) error {
	for n := foldAtOnce; n == foldAtOnce && ctx.Err() == nil; {
		err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
			if err := postgres.LockTx(ctx, tx, foldLock); err != nil {
				return err
			}
			n, err = s.fold(ctx, tx, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fold folds some records, and counts them.
func (s *Service) fold(ctx context.Context, tx bun.Tx, now time.Time) (n int, err error) {
	var sums []changed
	statement := postgres.RawForAllTenants("usage of all tenants is summed together", foldSQL)
	if err := tx.NewRaw(statement, foldAtOnce).Scan(ctx, &sums); err != nil {
		return 0, fmt.Errorf("sum usage: %w", err)
	}
	byTenant := map[workspaces.TenantID][]changed{}
	for _, one := range sums {
		n = one.Records
		byTenant[one.TenantID] = append(byTenant[one.TenantID], one)
	}
	for tenant, own := range byTenant {
		if err := s.announce(ctx, tx, tenant, own, now); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// Sweep deletes records that were counted long ago, and announces thresholds that were reached
// although nothing was used.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	return errors.Join(s.recheck(ctx, now), s.deleteRecords(ctx, now))
}

func (s *Service) deleteRecords(ctx context.Context, now time.Time) error {
	for n := int64(deleteAtOnce); n == deleteAtOnce && ctx.Err() == nil; {
		result, err := s.db.NewRaw(postgres.RawForAllTenants("old records of usage are deleted by age", `
DELETE FROM usage_records
WHERE seq IN (SELECT r.seq FROM usage_records AS r WHERE r.counted AND r.at < ? LIMIT ?)`), now.Add(-recordLife), deleteAtOnce).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete old records of usage: %w", err)
		}
		if n, err = result.RowsAffected(); err != nil {
			return fmt.Errorf("count deleted records of usage: %w", err)
		}
	}
	return nil
}
