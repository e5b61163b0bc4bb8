package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
)

// dueSQL picks batches of due deliveries, tenants in round robin: in each round one endpoint of a
// tenant, drawn at random so that nothing has to be remembered, gives one batch. Each endpoint with
// something pending costs one index probe, however much it has pending. Of an ordered endpoint only
// the first pending delivery is looked at: the task that delivers it goes on with the others.
var dueSQL = `
WITH RECURSIVE ` + fair.RoundRobinSQL("webhook_deliveries", "w.status = 'pending' AND w.next_at IS NOT NULL") + `,
endpoints AS (
    SELECT round_robin.tenant_id,
           round_robin.place,
           own.endpoint_id,
           e.ordered
    FROM round_robin
    CROSS JOIN LATERAL (
        WITH RECURSIVE e AS (
            SELECT ''::text AS endpoint_id
            UNION ALL
            SELECT (
                SELECT w.endpoint_id
                FROM webhook_deliveries AS w
                WHERE w.tenant_id = round_robin.tenant_id
                  AND w.endpoint_id > e.endpoint_id
                  AND w.status = 'pending'
                  AND w.next_at IS NOT NULL
                ORDER BY w.endpoint_id
                LIMIT 1
            )
            FROM e
            WHERE e.endpoint_id IS NOT NULL
        )
        SELECT endpoint_id
        FROM e
        WHERE endpoint_id <> ''
    ) AS own
    JOIN webhook_endpoints AS e ON e.tenant_id = round_robin.tenant_id AND e.id = own.endpoint_id
    WHERE round_robin.tenant_id <> ALL (coalesce(?::text[], '{}'))
      AND own.endpoint_id <> ALL (coalesce(?::text[], '{}'))
), due AS (
    SELECT endpoints.place,
           endpoints.tenant_id,
           endpoints.endpoint_id,
           own.id,
           (row_number() OVER (PARTITION BY endpoints.endpoint_id ORDER BY own.next_at, own.id) - 1) / ? AS batch
    FROM endpoints
    CROSS JOIN LATERAL (
        (
            SELECT w.id,
                   w.next_at
            FROM webhook_deliveries AS w
            WHERE NOT endpoints.ordered
              AND w.tenant_id = endpoints.tenant_id
              AND w.endpoint_id = endpoints.endpoint_id
              AND w.status = 'pending'
              AND w.next_at <= ?
              AND (w.lease_until IS NULL OR w.lease_until < ?)
              AND (w.queued_until IS NULL OR w.queued_until < ?)
            ORDER BY w.next_at
            LIMIT ? * (SELECT greatest(?, ? / count(*)) FROM endpoints)
        )
        UNION ALL
        SELECT first.id,
               first.next_at
        FROM (
            SELECT w.id,
                   w.next_at,
                   w.lease_until,
                   w.queued_until
            FROM webhook_deliveries AS w
            WHERE endpoints.ordered
              AND w.tenant_id = endpoints.tenant_id
              AND w.endpoint_id = endpoints.endpoint_id
              AND w.status = 'pending'
              AND w.next_at IS NOT NULL
            ORDER BY w.id
            LIMIT 1
        ) AS first
        WHERE first.next_at <= ?
          AND (first.lease_until IS NULL OR first.lease_until < ?)
          AND (first.queued_until IS NULL OR first.queued_until < ?)
    ) AS own
), batches AS (
    SELECT place,
           endpoint_id,
           batch,
           round
    FROM (
        SELECT place,
               tenant_id,
               endpoint_id,
               batch,
               row_number() OVER (PARTITION BY tenant_id ORDER BY batch, random()) AS round
        FROM due
        GROUP BY place, tenant_id, endpoint_id, batch
    ) AS numbered
    LEFT JOIN unnest(coalesce(?::text[], '{}'), coalesce(?::bigint[], '{}')) AS held (tenant_id, batches) USING (tenant_id)
    WHERE round <= ? - coalesce(held.batches, 0)
    ORDER BY round, place
    LIMIT ?
), picked AS (
    SELECT d.id,
           batches.round,
           batches.place
    FROM batches
    JOIN due USING (endpoint_id, batch)
    JOIN webhook_deliveries AS d ON d.id = due.id
    -- Another worker may have been faster.
    WHERE d.status = 'pending'
      AND (d.queued_until IS NULL OR d.queued_until < ?)
    FOR UPDATE OF d SKIP LOCKED
), queued AS (
    UPDATE webhook_deliveries AS d
    SET queued_until = ?
    FROM picked
    WHERE d.id = picked.id
    RETURNING d.id, d.tenant_id, d.endpoint_id, d.attempt, picked.round, picked.place
)
SELECT id, tenant_id, endpoint_id, attempt
FROM queued
ORDER BY round, place, endpoint_id, id`

// Due returns due deliveries that no task is known to be queued for, and counts them as queued for
// Policy.Requeue: at most ask.Room batches of them (see Batches), of a tenant no more than its
// share leaves, tenants in round robin. Endpoints that cannot be called now are skipped. It reads
// all tenants.
func (s *Service) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]Due, error) {
	share := cmp.Or(ask.Share, math.MaxInt32)
	var tenants []string
	var batches []int64
	for tenant, n := range ask.Held {
		tenants, batches = append(tenants, tenant), append(batches, int64(n))
	}
	var due []Due
	err := s.db.NewRaw(postgres.RawForAllTenants("tenants take turns with their deliveries", dueSQL),
		ask.After, ask.After, ask.After, pgdialect.Array(ask.Except), pgdialect.Array(s.limiter.unavailable(now)),
		MaxBatch, now, now, now, MaxBatch, batchesAtOnce, ask.Room, now, now, now,
		pgdialect.Array(tenants), pgdialect.Array(batches), share, ask.Room, now, now.Add(s.policy.Requeue)).Scan(ctx, &due)
	if err != nil {
		return nil, postgres.MapError(fmt.Errorf("find due deliveries: %w", err))
	}
	return due, nil
}

// Subscribers returns up to two tenants that have an enabled endpoint: enough to know whether there
// is more than one.
func (s *Service) Subscribers(ctx context.Context) ([]string, error) {
	var tenants []string
	err := s.db.NewRaw(postgres.RawForAllTenants("whether there is more than one", `
SELECT tenant_id
FROM (
    SELECT min(tenant_id) AS tenant_id FROM webhook_endpoints WHERE status = 'enabled'
    UNION
    SELECT max(tenant_id) FROM webhook_endpoints WHERE status = 'enabled'
) AS ends
WHERE tenant_id IS NOT NULL`)).Scan(ctx, &tenants)
	if err != nil {
		return nil, postgres.MapError(fmt.Errorf("look for subscribers: %w", err))
	}
	return tenants, nil
}

// Reschedule postpones unclaimed deliveries by a second, because their tenant has its
// share of the workers.
func (s *Service) Reschedule(ctx context.Context, batch Batch) error {
	return postpone(ctx, s.db, Endpoint{ID: batch.EndpointID, TenantID: batch.TenantID}, batch.IDs, s.moment().Add(busyPause))
}
