package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// meterDays is how far back usage is looked at. Stripe takes what is at most 35 days old, and a
// month may begin 31 days before that.
const meterDays = 100

// meterPause is how long reports may pause before they begin anew.
const meterPause = 7 * 24 * time.Hour

// noteMeterRunSQL records that the usage of meters is looked at now. It returns the meters whose
// last run is too long ago, and removes their customers, so that what was used meanwhile is not
// reported. Other workers wait for it. Parameters: the meters, the time before which a run is too
// long ago, now, the meters.
const noteMeterRunSQL = `
WITH paused AS (
    SELECT r.meter
    FROM billing_meter_runs AS r
    WHERE r.meter = ANY (ARRAY[?]::text[]) AND r.ran_at < ?
    FOR UPDATE
), ended AS (
    UPDATE billing_meters AS m
    SET customer_id = ''
    FROM paused
    WHERE m.meter = paused.meter
), noted AS (
    INSERT INTO billing_meter_runs AS r (meter, ran_at)
    SELECT named.meter, ?
    FROM unnest(ARRAY[?]::text[]) AS named (meter)
    ORDER BY named.meter
    ON CONFLICT (meter) DO UPDATE
    SET ran_at = greatest(r.ran_at, excluded.ran_at)
)
SELECT meter
FROM paused`

// insertMeterMonthsSQL adds the present month of tenants with a customer. It begins with the
// customer of the month before, or nobody. Parameters: the meters, now, the tenant twice.
const insertMeterMonthsSQL = `
INSERT INTO billing_meters (tenant_id, meter, month, customer_id, counted)
SELECT t.id, named.meter, present.month, coalesce(before.customer_id, ''), 0
FROM tenants AS t
CROSS JOIN unnest(ARRAY[?]::text[]) AS named (meter)
CROSS JOIN LATERAL (SELECT date_trunc('month', ?::timestamptz AT TIME ZONE t.timezone)::date) AS present (month)
LEFT JOIN LATERAL (
    SELECT m.month,
           m.customer_id
    FROM billing_meters AS m
    WHERE m.tenant_id = t.id AND m.meter = named.meter
    ORDER BY m.month DESC
    LIMIT 1
) AS before ON true
WHERE t.stripe_customer_id IS NOT NULL
  AND (? = '' OR t.id = ?)
  AND (before.month IS NULL OR before.month < present.month)
ORDER BY t.id, named.meter -- so that two workers wait for each other and nothing else
ON CONFLICT DO NOTHING`

// insertMeterEventsSQL makes an event of each sum that has grown, unless an event of that month
// waits, and of what a customer that has changed has used. In the same statement it counts that,
// and notes the tenant's customer. An event is of now, or of the last second of its month in the
// tenant's time zone. Meters that are not reported have no events. Parameters: now, the first day,
// the tenant twice, the meters, now, the meters.
const insertMeterEventsSQL = `
WITH grown AS (
    SELECT m.tenant_id,
           m.meter,
           m.month,
           m.customer_id,
           m.counted,
           greatest(m.counted, coalesce(u.quantity, 0)) AS quantity,
           coalesce(t.stripe_customer_id, '') AS next_customer_id,
           least(?::timestamptz, ((m.month + interval '1 month') AT TIME ZONE t.timezone) - interval '1 second') AS at
    FROM billing_meters AS m
    JOIN tenants AS t ON t.id = m.tenant_id
    LEFT JOIN usage_months AS u ON u.tenant_id = m.tenant_id AND u.month = m.month AND u.meter = m.meter
    WHERE m.month > ?
      AND (? = '' OR m.tenant_id = ?)
      AND (m.customer_id <> coalesce(t.stripe_customer_id, '')
           OR m.customer_id <> '' AND u.quantity > m.counted AND m.meter = ANY (ARRAY[?]::text[]) AND NOT EXISTS (
               SELECT
               FROM billing_meter_events AS e
               WHERE e.tenant_id = m.tenant_id AND e.meter = m.meter AND e.month = m.month AND e.customer_id = m.customer_id
           ))
    FOR UPDATE OF m %[1]s
    FOR SHARE OF t %[1]s
), made AS (
    INSERT INTO billing_meter_events (tenant_id, id, meter, month, customer_id, name, quantity, at, attempts, due_at, problem)
    SELECT tenant_id, gen_random_uuid(), meter, month, customer_id, '', quantity - counted, at, 0, ?, ''
    FROM grown
    WHERE customer_id <> '' AND quantity > counted AND meter = ANY (ARRAY[?]::text[])
)
UPDATE billing_meters AS m
SET counted = grown.quantity,
    customer_id = grown.next_customer_id
FROM grown
WHERE m.tenant_id = grown.tenant_id AND m.meter = grown.meter AND m.month = grown.month`

// noteMeterRun returns the meters whose reports begin anew.
func noteMeterRun(ctx context.Context, tx bun.Tx, meters []string, now time.Time) (paused []string, err error) {
	statement := postgres.RawForAllTenants("the usage of all tenants is reported", noteMeterRunSQL)
	if err := tx.NewRaw(statement, bun.List(meters), now.Add(-meterPause), now, bun.List(meters)).Scan(ctx, &paused); err != nil {
		return nil, fmt.Errorf("note that usage is reported: %w", err)
	}
	return paused, nil
}

func insertMeterMonths(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, meters []string, now time.Time) error {
	statement := postgres.RawForAllTenants("the usage of all tenants is reported", insertMeterMonthsSQL)
	if _, err := tx.NewRaw(statement, bun.List(meters), now, tenant, tenant).Exec(ctx); err != nil {
		return fmt.Errorf("add months whose usage is reported: %w", err)
	}
	return nil
}

// insertMeterEvents waits for other workers when it is about one tenant. The sweep of all leaves
// out what is locked, because it takes its locks in any order.
func insertMeterEvents(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, meters []string, now time.Time) error {
	locked := ""
	if tenant == "" {
		locked = "SKIP LOCKED"
	}
	statement := postgres.RawForAllTenants("the usage of all tenants is reported", fmt.Sprintf(insertMeterEventsSQL, locked))
	since := now.AddDate(0, 0, -meterDays).Format(time.DateOnly)
	if _, err := tx.NewRaw(statement, now, since, tenant, tenant, bun.List(meters), now, bun.List(meters)).Exec(ctx); err != nil {
		return fmt.Errorf("make meter events: %w", err)
	}
	return nil
}

// selectDueMeterEvents reads up to limit events to send. Events that Stripe may have come first,
// because they are given up after a day.
func selectDueMeterEvents(ctx context.Context, db bun.IDB, meters []string, now time.Time, limit int) ([]meterEvent, error) {
	var due []meterEvent
	err := db.NewSelect().Model(&due).Comment(postgres.AllTenants("the usage of all tenants is reported")).
		Where("e.meter IN (?)", bun.List(meters)).Where("e.due_at <= ?", now).
		OrderExpr("e.unknown_since NULLS LAST, e.due_at, e.at").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read meter events that are due: %w", err)
	}
	return due, nil
}

// claimMeterEvent leaves an event to the caller until its lease is over, and counts the attempt.
// From now on Stripe may have the event. The name is the one that it was sent with before, if
// Stripe may have had it already. ok is false when another worker has claimed it.
func claimMeterEvent(ctx context.Context, db bun.IDB, e meterEvent, name string, now time.Time) (claimed meterEvent, ok bool, err error) {
	err = db.NewUpdate().Model(&claimed).
		Set("attempts = e.attempts + 1").Set("due_at = ?", now.Add(meterLease)).
		Set("name = CASE WHEN e.unknown_since IS NULL THEN ? ELSE e.name END", name).
		Set("unknown_since = coalesce(e.unknown_since, ?)", now).
		Where("e.tenant_id = ?", e.TenantID).Where("e.id = ?", e.ID).Where("e.attempts = ?", e.Attempts).Where("e.due_at <= ?", now).
		Returning("*").Scan(ctx)
	if postgres.NoRows(err) {
		return meterEvent{}, false, nil
	}
	if err != nil {
		return meterEvent{}, false, fmt.Errorf("claim a meter event: %w", err)
	}
	return claimed, true, nil
}

// finishMeterEvent deletes an event that Stripe has taken, and adds it to what is reported.
func finishMeterEvent(ctx context.Context, db bun.IDB, e meterEvent, now time.Time) error {
	_, err := db.NewRaw(`
WITH taken AS (
    DELETE FROM billing_meter_events AS e
    WHERE e.tenant_id = ? AND e.id = ?
    RETURNING e.*
)
UPDATE billing_meters AS m
SET reported = m.reported + taken.quantity,
    reported_at = ?
FROM taken
WHERE m.tenant_id = taken.tenant_id AND m.meter = taken.meter AND m.month = taken.month`, e.TenantID, e.ID, now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write down that usage is reported: %w", err)
	}
	return nil
}

// giveUpMeterEvent deletes an event that is not sent any more, and adds it to what is given up. It
// returns false when another worker has sent or given up the event.
func giveUpMeterEvent(ctx context.Context, db bun.IDB, e meterEvent) (bool, error) {
	gone, err := postgres.Changed(db.NewRaw(`
WITH gone AS (
    DELETE FROM billing_meter_events AS e
    WHERE e.tenant_id = ? AND e.id = ? AND e.attempts = ?
    RETURNING e.*
)
UPDATE billing_meters AS m
SET given_up = m.given_up + gone.quantity
FROM gone
WHERE m.tenant_id = gone.tenant_id AND m.meter = gone.meter AND m.month = gone.month`, e.TenantID, e.ID, e.Attempts).Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("give up a meter event: %w", err)
	}
	return gone, nil
}

// postponeMeterEvent writes the outcome of an attempt, unless there was another one since.
func postponeMeterEvent(ctx context.Context, db bun.IDB, e meterEvent) error {
	_, err := db.NewUpdate().Model(&e).Column("due_at", "unknown_since", "problem").
		Where("e.tenant_id = ?", e.TenantID).Where("e.id = ?", e.ID).Where("e.attempts = ?", e.Attempts).Exec(ctx)
	if err != nil {
		return fmt.Errorf("postpone a meter event: %w", err)
	}
	return nil
}

// usageReports are what a tenant's usage reports have come to.
type usageReports struct {
	ReportedAt time.Time `bun:"reported_at,nullzero"`
	// Problem is why Stripe has not taken usage that waits, the one that waits longest.
	Problem string `bun:"problem,nullzero"`
	// GivenUp is the latest usage that is not reported any more: "120 tokens of 2026-11".
	GivenUp string `bun:"given_up,nullzero"`
}

// problem says in words why usage is not reported.
func (r usageReports) problem() string {
	if r.Problem == "" && r.GivenUp != "" {
		return r.GivenUp + " are not reported to Stripe any more: they were too old for it, or it may have them."
	}
	return r.Problem
}

func selectUsageReports(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, now time.Time) (usageReports, error) {
	var found usageReports
	err := db.NewRaw(`
SELECT (SELECT max(m.reported_at) FROM billing_meters AS m WHERE m.tenant_id = ?) AS reported_at,
       (SELECT e.problem
        FROM billing_meter_events AS e
        WHERE e.tenant_id = ? AND e.problem <> ''
        ORDER BY e.at, e.id
        LIMIT 1) AS problem,
       (SELECT concat(m.given_up, ' ', m.meter, ' of ', to_char(m.month, 'YYYY-MM'))
        FROM billing_meters AS m
        WHERE m.tenant_id = ? AND m.given_up > 0 AND m.month > ?
        ORDER BY m.month DESC, m.meter
        LIMIT 1) AS given_up`, tenant, tenant, tenant, now.AddDate(0, 0, -meterDays).Format(time.DateOnly)).Scan(ctx, &found)
	if err != nil {
		return usageReports{}, fmt.Errorf("read a tenant's usage reports: %w", err)
	}
	return found, nil
}
