package webhooks

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/workspaces"
)

// erasedText is the error of the attempt that stands for what was not sent any more.
const erasedText = "The event was erased, because it is about a user or session that was erased. It is not sent."

// eraseSQL drops the pending deliveries of events and records for each an attempt that failed, with
// the next number. What receivers answered to any of their attempts is taken out.
const eraseSQL = `
WITH picked AS (
    SELECT d.id,
           d.tenant_id,
           d.workspace_id,
           d.endpoint_id,
           d.attempt,
           d.status
    FROM webhook_deliveries AS d
    WHERE d.tenant_id = ?
      AND d.workspace_id = ?
      AND d.event_seq = ANY (?)
    ORDER BY d.id
    FOR UPDATE
), dropped AS (
    UPDATE webhook_deliveries AS d
    SET status = CASE WHEN d.status = 'pending' THEN 'failed' ELSE d.status END,
        attempt = d.attempt + CASE WHEN d.status = 'pending' THEN 1 ELSE 0 END,
        next_at = NULL,
        lease_until = NULL,
        queued_until = NULL,
        once = false,
        erased = true
    FROM picked
    WHERE d.tenant_id = picked.tenant_id
      AND d.id = picked.id
), answers AS (
    UPDATE webhook_attempts AS a
    SET response_body = '',
        response_headers = '{}'
    FROM picked
    WHERE a.tenant_id = picked.tenant_id
      AND a.delivery_id = picked.id
), recorded AS (
    INSERT INTO webhook_attempts AS a
        (id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, status, error, request_headers, response_headers, started_at)
    SELECT 'dlv_0' || left(md5(endpoint_id || ' ' || id || ' erased'), 25), -- of the shape that idgen gives
           tenant_id, workspace_id, endpoint_id, id, attempt + 1, 'failed', ?, '{}', '{}', ?
    FROM picked
    WHERE status = 'pending'
    ON CONFLICT (delivery_id, attempt) DO UPDATE
    SET status = 'failed',
        error = excluded.error
    WHERE a.tenant_id = excluded.tenant_id
)
SELECT count(*) FILTER (WHERE status = 'pending') FROM picked`

// Erase ends the deliveries of events whose bodies were erased in the same transaction, and takes
// out what receivers answered. Repeating it takes out the answers that were recorded meanwhile. It
// returns how many deliveries will not be made.
func (s *Service) Erase(ctx context.Context, tx bun.IDB, ref workspaces.Ref, seqs []int64) (dropped int, err error) {
	if len(seqs) == 0 {
		return 0, nil
	}
	err = tx.NewRaw(eraseSQL, ref.TenantID, ref.ID, pgdialect.Array(seqs), erasedText, s.moment()).Scan(ctx, &dropped)
	if err != nil {
		return 0, fmt.Errorf("erase webhook deliveries: %w", err)
	}
	return dropped, nil
}

// CountUndelivered counts the deliveries of events that Erase would not make.
func (s *Service) CountUndelivered(ctx context.Context, db bun.IDB, ref workspaces.Ref, about events.About) (n int, err error) {
	condition, args := about.Match()
	err = db.NewRaw(`
SELECT count(*)
FROM webhook_deliveries AS d
JOIN events AS e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
WHERE d.tenant_id = ?
  AND d.workspace_id = ?
  AND d.status = 'pending'
  AND `+condition, append([]any{ref.TenantID, ref.ID}, args...)...).Scan(ctx, &n)
	if err != nil {
		return 0, fmt.Errorf("count undelivered events: %w", err)
	}
	return n, nil
}
