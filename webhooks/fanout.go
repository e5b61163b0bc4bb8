package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
)

// FanOut makes the deliveries of public events in the transaction that marks them relayed: one
// for each enabled endpoint of the workspace (of all workspaces, when the event is the tenant's)
// that subscribes to the event. A repeat makes nothing. It returns what was made; the caller
// makes the tasks after commit.
func (s *Service) FanOut(ctx context.Context, tx bun.IDB, rows []events.Row) ([]Due, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	seqs := make([]int64, len(rows))
	for i, row := range rows {
		seqs[i] = row.Seq
	}
	now := s.moment()
	var due []Due
	// The endpoint that webhook.disabled is about (its subject) does not get it.
	err := tx.NewRaw(`
INSERT INTO webhook_deliveries
    (tenant_id, workspace_id, endpoint_id, event_id, event_seq, event_type, status, next_at, queued_until, created_at)
SELECT e.tenant_id,
       e.workspace_id,
       e.id,
       ev.event_id,
       ev.seq,
       ev.type,
       'pending',
       ?,
       ?,
       ?
FROM events AS ev
JOIN webhook_endpoints AS e
  ON e.tenant_id = ev.tenant_id
 AND (ev.workspace_id = '' OR e.workspace_id = ev.workspace_id)
WHERE ev.seq IN (?)
  AND e.status = 'enabled'
  AND ev.type = ANY (e.events)
  AND NOT (ev.type = 'webhook.disabled' AND ev.subject = e.id)
ORDER BY ev.seq, e.id
ON CONFLICT (endpoint_id, event_id) DO NOTHING
RETURNING id, endpoint_id, attempt`,
		now.Add(s.policy.Schedule[0]), now.Add(s.policy.Requeue), now, bun.List(seqs)).Scan(ctx, &due)
	if err != nil {
		return nil, fmt.Errorf("fan out events: %w", err)
	}
	return due, nil
}

// Due returns up to limit deliveries that should be sent by now and that no task is known to be
// on its way for, the longest due first, and counts them as on their way for Policy.Requeue.
// Like all work of the sweeper it is for the whole installation.
func (s *Service) Due(ctx context.Context, now time.Time, limit int) ([]Due, error) {
	var due []Due
	err := s.db.NewRaw(`
WITH picked AS (
    SELECT id
    FROM webhook_deliveries
    WHERE status = 'pending'
      AND next_at <= ?
      AND (lease_until IS NULL OR lease_until < ?)
      AND (queued_until IS NULL OR queued_until < ?)
    ORDER BY next_at
    LIMIT ?
    FOR UPDATE SKIP LOCKED
)
UPDATE webhook_deliveries AS d
SET queued_until = ?
FROM picked
WHERE d.id = picked.id
RETURNING d.id, d.endpoint_id, d.attempt`,
		now, now, now, limit, now.Add(s.policy.Requeue)).Scan(ctx, &due)
	if err != nil {
		return nil, postgres.MapError(fmt.Errorf("find due deliveries: %w", err))
	}
	return due, nil
}
