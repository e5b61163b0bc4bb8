package insights

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/workspaces"
)

// failedWithin is how long work that was given up is counted.
const failedWithin = 7 * 24 * time.Hour

// Work is a tenant's work of one kind; see BacklogKind in proto/parlance/v1/queues.proto.
type Work struct {
	// Kind is events, sources, deliveries, callbacks, privacy or analyses.
	Kind string `bun:"kind"`
	// Waiting waits for its turn, Running is being done, Retrying has failed and is tried again,
	// Failed was given up in the last 7 days.
	Waiting  int `bun:"waiting"`
	Running  int `bun:"running"`
	Retrying int `bun:"retrying"`
	Failed   int `bun:"failed"`
	// OldestAt is when the oldest that waits began to wait; zero: none waits.
	OldestAt time.Time `bun:"oldest_at,nullzero"`
}

// backlogSQL counts a tenant's work by kind. ?0 is the tenant, ?1 the present time, ?2 since when
// what was given up counts. What an endpoint that is paused or disabled has pending is no work now,
// nor a callback whose time has not come. An analysis that has failed before is counted as retrying
// also while it is tried: its row does not tell.
const backlogSQL = `
WITH own AS (
    SELECT w.id
    FROM workspaces AS w
    WHERE w.tenant_id = ?0
), events AS (
    SELECT x.created_at
    FROM events AS x
    WHERE x.tenant_id = ?0
      AND x.relayed_at IS NULL
      AND left(x.type, 1) <> '_'
    UNION ALL
    SELECT x.created_at
    FROM events AS x
    WHERE x.tenant_id = ?0
      AND x.relayed_at IS NULL
      AND left(x.type, 1) = '_'
), work (kind, state, at, count) AS (
    SELECT 'events', 'waiting', min(created_at), count(*)
    FROM events
    UNION ALL
    SELECT 'sources',
           CASE WHEN x.status = 'processing' THEN 'running' WHEN x.error_code <> '' THEN 'retrying' ELSE 'waiting' END AS state,
           min(x.due_at),
           count(*)
    FROM sources AS x
    WHERE x.tenant_id = ?0
      AND x.status IN ('queued', 'processing')
    GROUP BY state
    UNION ALL
    SELECT 'sources', 'failed', NULL, count(*)
    FROM own
    JOIN sources AS x ON x.tenant_id = ?0 AND x.workspace_id = own.id
    WHERE x.status = 'failed'
      AND x.updated_at >= ?2
    UNION ALL
    SELECT 'deliveries',
           CASE WHEN x.lease_until >= ?1 THEN 'running' WHEN x.attempt > 0 THEN 'retrying' ELSE 'waiting' END AS state,
           min(x.created_at),
           count(*)
    FROM webhook_deliveries AS x
    WHERE x.tenant_id = ?0
      AND x.status = 'pending'
      AND x.next_at IS NOT NULL
    GROUP BY state
    UNION ALL
    SELECT 'deliveries', 'failed', NULL, count(*)
    FROM webhook_endpoints AS e
    JOIN webhook_deliveries AS x ON x.tenant_id = e.tenant_id AND x.endpoint_id = e.id
    WHERE e.tenant_id = ?0
      AND x.status = 'failed'
      AND x.test_body IS NULL
      AND x.created_at >= ?2
    UNION ALL
    SELECT 'callbacks', CASE WHEN x.attempts > 0 THEN 'retrying' ELSE 'waiting' END AS state, min(x.due_at), count(*)
    FROM callbacks AS x
    WHERE x.tenant_id = ?0
      AND x.status = 'scheduled'
      AND (x.attempts > 0 OR x.at <= ?1)
    GROUP BY state
    UNION ALL
    SELECT 'callbacks', 'running', NULL, count(*)
    FROM phone_calls AS x
    WHERE x.tenant_id = ?0
      AND x.ended_at IS NULL
      AND x.callback_id <> ''
    UNION ALL
    SELECT 'callbacks', 'failed', NULL, count(*)
    FROM callbacks AS x
    WHERE x.tenant_id = ?0
      AND x.status IN ('failed', 'no_answer')
      AND x.ended_at >= ?2
    UNION ALL
    SELECT 'privacy',
           CASE WHEN x.status = 'processing' THEN 'running' WHEN x.attempts > 0 THEN 'retrying' ELSE 'waiting' END AS state,
           min(x.created_at),
           count(*)
    FROM privacy_requests AS x
    WHERE x.tenant_id = ?0
      AND x.finished_at IS NULL
    GROUP BY state
    UNION ALL
    SELECT 'privacy', 'failed', NULL, count(*)
    FROM own
    JOIN privacy_requests AS x ON x.tenant_id = ?0 AND x.workspace_id = own.id
    WHERE x.status = 'failed'
      AND x.finished_at >= ?2
    UNION ALL
    SELECT 'analyses',
           CASE WHEN x.attempts = 0 THEN 'waiting' WHEN x.error <> '' THEN 'retrying' ELSE 'running' END AS state,
           min(x.created_at),
           count(*)
    FROM session_analyses AS x
    WHERE x.tenant_id = ?0
      AND x.status = 'pending'
    GROUP BY state
    UNION ALL
    SELECT 'analyses', 'failed', NULL, count(*)
    FROM session_analyses AS x
    WHERE x.tenant_id = ?0
      AND x.status = 'failed'
      AND x.ended_at >= ?2
)
SELECT k.kind,
       coalesce(sum(work.count) FILTER (WHERE work.state = 'waiting'), 0) AS waiting,
       coalesce(sum(work.count) FILTER (WHERE work.state = 'running'), 0) AS running,
       coalesce(sum(work.count) FILTER (WHERE work.state = 'retrying'), 0) AS retrying,
       coalesce(sum(work.count) FILTER (WHERE work.state = 'failed'), 0) AS failed,
       min(work.at) FILTER (WHERE work.state = 'waiting') AS oldest_at
FROM unnest(ARRAY['events', 'sources', 'deliveries', 'callbacks', 'privacy', 'analyses']) WITH ORDINALITY AS k (kind, place)
LEFT JOIN work ON work.kind = k.kind
GROUP BY k.kind, k.place
ORDER BY k.place`

// Backlog counts the work of the caller's tenant that waits, is being done, or was given up: one
// Work for each kind. Errors: Forbidden auth-scope (a key for one workspace).
func (s *Service) Backlog(ctx context.Context, caller workspaces.Principal) ([]Work, error) {
	if err := caller.RequireWholeTenant(); err != nil {
		return nil, err
	}
	var kinds []Work
	now := s.now()
	if err := s.DB.NewRaw(backlogSQL, caller.TenantID, now, now.Add(-failedWithin)).Scan(ctx, &kinds); err != nil {
		return nil, fmt.Errorf("count the tenant's backlog: %w", err)
	}
	return kinds, nil
}
