package privacy

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// spentAtOnce bounds the sessions whose content one transaction deletes.
const spentAtOnce = 100

// spentSQL locks closed sessions with sealed content that nobody waits for any more: their events
// are relayed, and no delivery of them is pending. Parameter: the bound.
const spentSQL = `
SELECT s.tenant_id,
       s.workspace_id,
       s.id
FROM sessions AS s
WHERE s.sealed
  AND s.ended_at IS NOT NULL
  AND NOT EXISTS (
      SELECT
      FROM events AS e
      WHERE e.tenant_id = s.tenant_id
        AND e.session_id = s.id
        AND e.sealed IS NOT NULL
        AND (
            e.relayed_at IS NULL
            OR EXISTS (
                SELECT
                FROM webhook_endpoints AS r
                JOIN webhook_deliveries AS d ON d.tenant_id = r.tenant_id AND d.endpoint_id = r.id AND d.event_id = e.event_id
                WHERE r.tenant_id = e.tenant_id
                  AND d.status = 'pending'
            )
        )
  )
ORDER BY s.ended_at
LIMIT ?
FOR UPDATE SKIP LOCKED`

// SweepContent deletes the sealed content of sessions that keep nothing, once it is delivered or
// given up. Several processes may run it at the same time.
func (s *Service) SweepContent(ctx context.Context, now time.Time) error {
	for n := spentAtOnce; n == spentAtOnce && ctx.Err() == nil; {
		err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) (err error) {
			n, err = s.deleteSpent(ctx, tx, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteSpent deletes the content of some sessions, and counts them.
func (s *Service) deleteSpent(ctx context.Context, tx bun.Tx, now time.Time) (int, error) {
	var rows []struct {
		TenantID    workspaces.TenantID `bun:"tenant_id"`
		WorkspaceID workspaces.ID       `bun:"workspace_id"`
		ID          sessions.ID         `bun:"id"`
	}
	err := tx.NewRaw(postgres.RawForAllTenants("the sweep of content that is not kept", spentSQL), spentAtOnce).Scan(ctx, &rows)
	if err != nil {
		return 0, fmt.Errorf("read sessions whose content is delivered: %w", err)
	}
	byTenant := map[workspaces.TenantID][]string{}
	for _, row := range rows {
		byTenant[row.TenantID] = append(byTenant[row.TenantID], string(row.ID))
	}
	for tenant, ids := range byTenant {
		if err := s.deleteContent(ctx, tx, tenant, ids, now); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// deleteContent deletes the content of locked sessions of a tenant, wherever it is sealed.
func (s *Service) deleteContent(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, ids []string, now time.Time) error {
	array := pgdialect.Array(ids)
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{`
UPDATE turns AS t
SET messages = ` + unsealedMessages + `
WHERE t.tenant_id = ?
  AND t.session_id = ANY (?)`, []any{tenant, array}},
		{"UPDATE events AS e SET sealed = NULL WHERE e.tenant_id = ? AND e.session_id = ANY (?) AND e.sealed IS NOT NULL", []any{tenant, array}},
		{`
UPDATE sessions AS s
SET sealed = false,
    content_deleted_at = ?,
    dynamic_variables = '{}',
    assigned_variables = '{}',
    secret_variables = NULL,
    handover_reason = '',
    handover_summary = ''
WHERE s.tenant_id = ?
  AND s.id = ANY (?)`, []any{now, tenant, array}},
	} {
		if _, err := tx.NewRaw(statement.sql, statement.args...).Exec(ctx); err != nil {
			return fmt.Errorf("delete sealed content: %w", err)
		}
	}
	_, err := s.Answers.Erase(ctx, tx, tenant, idempotency.About{SessionIDs: ids})
	return err
}

// unsealedMessages are the messages of a turn t without their sealed content.
const unsealedMessages = `(
    SELECT coalesce(json_agg((m.value::jsonb - 'sealed')::json ORDER BY m.ordinality), '[]'::json)
    FROM json_array_elements(t.messages) WITH ORDINALITY AS m
)`
