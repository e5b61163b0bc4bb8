package ingestion

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const (
	// handedFor is how long a task is trusted to be on its way before DueSources offers its source
	// again.
	handedFor = 10 * time.Second
	// busyPause is how long a source of a tenant that has its share is put off.
	busyPause = 100 * time.Millisecond
)

// DueSource is a source that wants a task.
type DueSource struct {
	ID       knowledge.SourceID  `bun:"id"`
	TenantID workspaces.TenantID `bun:"tenant_id"`
	// WorkspaceID, Traceparent and RequestID are for logs and traces.
	WorkspaceID workspaces.ID `bun:"workspace_id"`
	Traceparent string        `bun:"traceparent"`
	RequestID   string        `bun:"request_id"`
}

// dueSQL picks sources: tenants take turns, and who has sources at work already has had as many.
const dueSQL = `,
ripe AS (
    SELECT own.id,
           own.tenant_id,
           round_robin.place,
           own.rank + (
               SELECT count(*)
               FROM sources AS w
               WHERE w.tenant_id = round_robin.tenant_id
                 AND w.status = 'processing'
           ) AS turn
    FROM round_robin
    CROSS JOIN LATERAL (
        SELECT w.id,
               w.tenant_id,
               row_number() OVER (ORDER BY w.due_at, w.id) AS rank
        FROM (
            (
                SELECT q.id, q.tenant_id, q.due_at
                FROM sources AS q
                WHERE q.tenant_id = round_robin.tenant_id
                  AND q.status = 'queued'
                  AND q.due_at <= ?
                  AND (q.queued_until IS NULL OR q.queued_until < ?)
                ORDER BY q.due_at
                LIMIT ?
            )
            UNION ALL
            (
                SELECT p.id, p.tenant_id, p.due_at
                FROM sources AS p
                WHERE p.tenant_id = round_robin.tenant_id
                  AND p.status = 'processing'
                  AND p.heartbeat_at <= ?
                  AND (p.queued_until IS NULL OR p.queued_until < ?)
                LIMIT ?
            )
        ) AS w
    ) AS own
    WHERE round_robin.tenant_id <> ALL (coalesce(?::text[], '{}'))
    ORDER BY turn, place
    LIMIT ?
), picked AS (
    SELECT s.id,
           ripe.turn,
           ripe.place
    FROM ripe
    JOIN sources AS s ON s.id = ripe.id
    -- Another worker may have been faster.
    WHERE s.status IN ('queued', 'processing')
      AND (s.queued_until IS NULL OR s.queued_until < ?)
    FOR UPDATE OF s SKIP LOCKED
), handed AS (
    UPDATE sources AS s
    SET queued_until = ?
    FROM picked
    WHERE s.id = picked.id
    RETURNING s.id, s.tenant_id, s.workspace_id, s.traceparent, s.request_id, picked.turn, picked.place
)
SELECT id, tenant_id, workspace_id, traceparent, request_id
FROM handed
ORDER BY turn, place, id`

// DueSources returns up to ask.Room sources that Ingest would claim and that no task is known to be
// on its way for, and counts them as on their way for ten seconds: those that wait and whose time
// has come, and those whose run has been silent for a minute. They are in the order of the tenants'
// turns, a tenant's own the longest due first. It looks at all tenants: the worker has none.
func (s *Service) DueSources(ctx context.Context, now time.Time, ask fair.Ask) ([]DueSource, error) {
	var due []DueSource
	silent := now.Add(-takeoverAfter)
	query := "WITH RECURSIVE " + fair.RoundRobinSQL("sources", "w.status IN ('queued', 'processing')") + dueSQL
	err := s.db.NewRaw(postgres.RawForAllTenants("tenants take turns with their sources", query),
		ask.After, ask.After, ask.After, now, now, ask.Room, silent, now, ask.Room, pgdialect.Array(ask.Except), ask.Room,
		now, now.Add(handedFor)).Scan(ctx, &due)
	if err != nil {
		return nil, fmt.Errorf("list due sources: %w", err)
	}
	return due, nil
}

// Reschedule makes a source wait for a moment, because its tenant has its share of the workers.
func (s *Service) Reschedule(ctx context.Context, source DueSource) error {
	_, err := s.db.ExecContext(ctx, `
		UPDATE sources
		SET due_at = greatest(due_at, ?), queued_until = NULL
		WHERE tenant_id = ?
		  AND id = ?
		  AND status = 'queued'`, s.moment().Add(busyPause), source.TenantID, source.ID)
	if err != nil {
		return fmt.Errorf("reschedule source %s: %w", source.ID, err)
	}
	return nil
}
