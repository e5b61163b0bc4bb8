package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
)

// lostText is the error of an attempt whose worker died.
const lostText = "The worker stopped before the answer was written down; the endpoint may have got the request."

// claimed is an attempt that this worker has to make.
type claimed struct {
	DeliveryID int64     `bun:"delivery_id"`
	AttemptID  AttemptID `bun:"attempt_id"`
	Attempt    int       `bun:"attempt"`
	// ScheduleFrom is how many of the earlier attempts do not count for the schedule: those before it
	// began anew, those that became unknown, and those that Redeliver asked for.
	ScheduleFrom int `bun:"schedule_from"`
	// Asked: Redeliver asked for it.
	Asked     bool        `bun:"-"`
	EventID   string      `bun:"event_id"`
	EventType events.Type `bun:"event_type"`
	Once      bool        `bun:"once"`
	Test      bool        `bun:"test"`
	Body      []byte      `bun:"body"`
	// Sealed is the body when that is not kept; see events.Event.
	Sealed []byte `bun:"sealed"`
	// Traceparent and RequestID are the event's.
	Traceparent string `bun:"traceparent"`
	RequestID   string `bun:"request_id"`
	// BeganAt is when it was claimed.
	BeganAt time.Time `bun:"-"`
	// SendAt is when the request may leave; zero: at once. See reserve.
	SendAt time.Time `bun:"-"`
}

// scheduled is how many attempts of the schedule have been made, this one included if it counts; at
// least 1, because the pause before the first attempt is none between two.
func (c claimed) scheduled() int {
	n := c.Attempt - c.ScheduleFrom
	if c.Asked {
		n--
	}
	return max(n, 1)
}

// insertLost makes the attempts of picked deliveries whose lease has expired unknown.
const insertLost = `
    INSERT INTO webhook_attempts AS a
        (id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, status, error, request_headers, response_headers, started_at)
    SELECT 'dlv_0' || left(md5(endpoint_id || ' ' || id || ' ' || attempt), 25), -- of the shape that idgen gives
           tenant_id, workspace_id, endpoint_id, id, attempt, 'unknown', ?, '{}', '{}', coalesce(claimed_at, created_at)
    FROM picked
    WHERE abandoned
    -- The row may exist: made by Redeliver, by the version before this one, or by a result that was recorded late.
    ON CONFLICT (delivery_id, attempt) DO UPDATE
    SET status = 'unknown',
        error = excluded.error
    WHERE a.tenant_id = excluded.tenant_id
      AND a.status = 'pending'`

const claimSQL = `
WITH picked AS (
    SELECT d.id,
           d.tenant_id,
           d.workspace_id,
           d.endpoint_id,
           d.attempt,
           d.claimed_at,
           d.created_at,
           d.lease_until IS NOT NULL AS abandoned
    FROM webhook_deliveries AS d
    JOIN webhook_endpoints AS e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
    WHERE d.tenant_id = ?
      AND d.endpoint_id = ?
      AND d.id IN (?)
      AND d.status = 'pending'
      AND d.next_at <= ?
      AND (d.lease_until IS NULL OR d.lease_until < ?)
      AND e.updated_at = ?
      AND ` + wanted + `
    FOR UPDATE OF d SKIP LOCKED
), taken AS (
    UPDATE webhook_deliveries AS d
    SET attempt = d.attempt + 1,
        schedule_from = d.schedule_from + picked.abandoned::integer,
        claimed_at = ?,
        lease_until = ?,
        queued_until = NULL
    FROM picked
    WHERE d.tenant_id = picked.tenant_id
      AND d.id = picked.id
    RETURNING d.*
), lost AS (` + insertLost + `
)
SELECT taken.id AS delivery_id,
       coalesce(asked.id, '') AS attempt_id,
       taken.attempt,
       taken.schedule_from,
       taken.event_id,
       taken.event_type,
       taken.once,
       taken.test_body IS NOT NULL AS test,
       coalesce(taken.test_body, ev.body) AS body,
       ev.sealed,
       coalesce(ev.traceparent, '') AS traceparent,
       coalesce(ev.request_id, '') AS request_id
FROM taken
LEFT JOIN events AS ev ON ev.tenant_id = taken.tenant_id AND ev.seq = taken.event_seq
-- An attempt that Redeliver asked for has an id.
LEFT JOIN webhook_attempts AS asked
  ON asked.tenant_id = taken.tenant_id
 AND asked.delivery_id = taken.id
 AND asked.attempt = taken.attempt
 AND asked.delivery_id BETWEEN ? AND ? -- tells Postgres which partitions to read
ORDER BY taken.id`

// claim begins the next attempt of each delivery that is pending, due, wanted by its endpoint and
// not claimed by another worker, and leases it until lease, in one statement. It claims nothing of
// an endpoint that was changed since it was read. A delivery with an expired lease had an attempt
// whose worker died: that attempt becomes unknown. The row of an attempt is written when it has
// ended.
func claim(ctx context.Context, db bun.IDB, endpoint Endpoint, ids []int64, now, lease time.Time) ([]claimed, error) {
	var claims []claimed
	err := db.NewRaw(claimSQL,
		endpoint.TenantID, endpoint.ID, bun.List(ids), now, now, endpoint.UpdatedAt, now, lease, lostText,
		slices.Min(ids), slices.Max(ids)).Scan(ctx, &claims)
	if err != nil {
		return nil, postgres.MapError(fmt.Errorf("claim deliveries: %w", err))
	}
	for i := range claims {
		claims[i].BeganAt = now
		claims[i].Asked = claims[i].AttemptID != ""
		if !claims[i].Asked {
			claims[i].AttemptID = AttemptID(idgen.New(idgen.Delivery))
		}
	}
	return claims, nil
}

// postpone makes unclaimed deliveries due at until, or later if they are, and not queued, so that
// Due returns them again then. The zero time does not postpone them.
func postpone(ctx context.Context, db bun.IDB, endpoint Endpoint, ids []int64, until time.Time) error {
	_, err := db.ExecContext(ctx, `
UPDATE webhook_deliveries
SET next_at = greatest(next_at, ?),
    queued_until = NULL
WHERE tenant_id = ?
  AND endpoint_id = ?
  AND id IN (?)
  AND status = 'pending'
  AND next_at IS NOT NULL
  AND lease_until IS NULL`, until, endpoint.TenantID, endpoint.ID, bun.List(ids))
	if err != nil {
		return postgres.MapError(fmt.Errorf("postpone deliveries: %w", err))
	}
	return nil
}

// unclaim gives back claimed deliveries that were not sent, also when the task was cancelled. The
// next task makes the same attempts.
func (s *Service) unclaim(ctx context.Context, endpoint Endpoint, claims []claimed) error {
	if len(claims) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.policy.RecordTimeout)
	defer cancel()
	deliveries, attempts := make([]int64, len(claims)), make([]int, len(claims))
	for i, c := range claims {
		deliveries[i], attempts[i] = c.DeliveryID, c.Attempt
	}
	_, err := s.db.ExecContext(ctx, `
WITH r AS (
    SELECT *
    FROM unnest(?::bigint[], ?::integer[]) AS r (delivery_id, attempt)
), flights AS (
    DELETE FROM webhook_flights AS f
    USING r
    WHERE f.tenant_id = ?
      AND f.endpoint_id = ?
      AND f.delivery_id = r.delivery_id
)
UPDATE webhook_deliveries AS d
SET attempt = d.attempt - 1,
    lease_until = NULL
FROM r
WHERE d.tenant_id = ?
  AND d.endpoint_id = ?
  AND d.id = r.delivery_id
  AND d.attempt = r.attempt
  AND d.status = 'pending'
  AND d.lease_until IS NOT NULL`, pgdialect.Array(deliveries), pgdialect.Array(attempts),
		endpoint.TenantID, endpoint.ID, endpoint.TenantID, endpoint.ID)
	if err != nil {
		return postgres.MapError(fmt.Errorf("give back deliveries: %w", err))
	}
	return nil
}

// anyUnwanted says whether one of the deliveries is scheduled although its endpoint does not want
// it.
func anyUnwanted(ctx context.Context, db bun.IDB, endpoint Endpoint, ids []int64) (bool, error) {
	var unwanted bool
	err := db.NewRaw(`
SELECT EXISTS (
    SELECT
    FROM webhook_deliveries AS d
    JOIN webhook_endpoints AS e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
    WHERE d.tenant_id = ?
      AND d.endpoint_id = ?
      AND d.id IN (?)
      AND d.status = 'pending'
      AND d.next_at IS NOT NULL
      AND NOT `+wanted+`
)`, endpoint.TenantID, endpoint.ID, bun.List(ids)).Scan(ctx, &unwanted)
	if err != nil {
		return false, postgres.MapError(fmt.Errorf("look for unwanted deliveries: %w", err))
	}
	return unwanted, nil
}

// hold unschedules the deliveries that the endpoint does not want: those that were inserted while
// the endpoint was changed.
func (s *Service) hold(ctx context.Context, endpoint Endpoint) error {
	now := s.moment()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if _, _, err := lockReceiver(ctx, tx, endpoint); err != nil {
			return err
		}
		return holdOrRelease(ctx, tx, endpoint, now)
	})
}
