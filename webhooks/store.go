package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

func insertEndpoint(ctx context.Context, db bun.IDB, endpoint Endpoint) error {
	if _, err := db.NewInsert().Model(&endpoint).Exec(ctx); err != nil {
		return fmt.Errorf("insert webhook endpoint: %w", err)
	}
	return nil
}

func selectEndpoint(ctx context.Context, db bun.IDB, ref workspaces.Ref, id EndpointID) (Endpoint, error) {
	return scanEndpoint(ctx, db.NewSelect(), ref, id)
}

// lockEndpoint is selectEndpoint with a lock against other changes of the endpoint. Whoever locks
// deliveries of an endpoint as well locks the endpoint first.
func lockEndpoint(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id EndpointID) (Endpoint, error) {
	return scanEndpoint(ctx, tx.NewSelect().For("NO KEY UPDATE"), ref, id)
}

func scanEndpoint(ctx context.Context, q *bun.SelectQuery, ref workspaces.Ref, id EndpointID) (Endpoint, error) {
	if !idgen.Valid(idgen.Endpoint, string(id)) {
		return Endpoint{}, fault.NoSuch("webhook endpoint", string(id))
	}
	var endpoint Endpoint
	err := q.Model(&endpoint).Where("we.tenant_id = ?", ref.TenantID).Where("we.workspace_id = ?", ref.ID).Where("we.id = ?", id).Scan(ctx)
	return endpoint, postgres.OrNoSuch(err, "webhook endpoint", string(id))
}

// selectReceiver reads the endpoint of a task, which names no workspace.
func selectReceiver(
	ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id EndpointID,
) (endpoint Endpoint, found bool, err error) {
	return scanReceiver(ctx, db.NewSelect(), tenant, id)
}

// lockReceiver is selectReceiver with the lock of lockEndpoint.
func lockReceiver(ctx context.Context, tx bun.Tx, of Endpoint) (endpoint Endpoint, found bool, err error) {
	return scanReceiver(ctx, tx.NewSelect().For("NO KEY UPDATE"), of.TenantID, of.ID)
}

func scanReceiver(
	ctx context.Context, q *bun.SelectQuery, tenant workspaces.TenantID, id EndpointID,
) (endpoint Endpoint, found bool, err error) {
	err = q.Model(&endpoint).Where("we.tenant_id = ?", tenant).Where("we.id = ?", id).Scan(ctx)
	if postgres.NoRows(err) {
		return Endpoint{}, false, nil
	}
	if err != nil {
		return Endpoint{}, false, postgres.MapError(fmt.Errorf("select the endpoint of deliveries: %w", err))
	}
	return endpoint, true, nil
}

func listEndpoints(ctx context.Context, db bun.IDB, ref workspaces.Ref, params postgres.PageParams) ([]Endpoint, string, error) {
	var endpoints []Endpoint
	query := db.NewSelect().Model(&endpoints).Where("we.tenant_id = ?", ref.TenantID).Where("we.workspace_id = ?", ref.ID)
	return postgres.List(ctx, params, query, &endpoints, func(e Endpoint) postgres.Key {
		return postgres.Key{CreatedAt: e.CreatedAt, ID: string(e.ID)}
	})
}

// updateEndpoint writes the columns that callers change, and those that disabling changes.
func updateEndpoint(ctx context.Context, tx bun.IDB, endpoint Endpoint) error {
	_, err := tx.NewUpdate().Model(&endpoint).
		Column("url", "events", "agent_ids", "description", "ordered", "max_per_second", "max_in_flight",
			"header_names", "headers", "status", "disabled_reason", "consecutive_failures",
			"secret", "secret_hint", "previous_secret", "previous_secret_until", "older_secrets", "updated_at").
		Where("tenant_id = ?", endpoint.TenantID).Where("id = ?", endpoint.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update webhook endpoint: %w", err)
	}
	return nil
}

func deleteEndpoint(ctx context.Context, tx bun.IDB, ref workspaces.Ref, id EndpointID) (bool, error) {
	return postgres.Changed(tx.NewDelete().Model((*Endpoint)(nil)).Where("tenant_id = ?", ref.TenantID).
		Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx))
}

// wanted is the condition under which endpoint e gets delivery d; a test needs an enabled endpoint
// only.
const wanted = `(e.status = 'enabled' AND (d.test_body IS NOT NULL
    OR (d.event_type = ANY (e.events) AND (e.agent_ids = '{}' OR d.agent_id = ANY (e.agent_ids)))))`

// holdOrRelease unschedules the pending deliveries that the endpoint does not want, and makes those
// that it wants again due at now. The caller has locked the endpoint.
func holdOrRelease(ctx context.Context, tx bun.IDB, endpoint Endpoint, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
UPDATE webhook_deliveries AS d
SET next_at = CASE WHEN `+wanted+` THEN ?::timestamptz END,
    queued_until = NULL
FROM webhook_endpoints AS e
WHERE e.tenant_id = d.tenant_id
  AND e.id = d.endpoint_id
  AND d.tenant_id = ?
  AND d.endpoint_id = ?
  AND d.status = 'pending'
  AND (d.next_at IS NULL) = `+wanted, now, endpoint.TenantID, endpoint.ID)
	if err != nil {
		return fmt.Errorf("hold or release the deliveries of %s: %w", endpoint.ID, err)
	}
	return nil
}
