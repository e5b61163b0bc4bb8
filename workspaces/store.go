package workspaces

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// insert inserts one row into any table of the package.
func insert(ctx context.Context, db bun.IDB, row any) error {
	if _, err := db.NewInsert().Model(row).Exec(ctx); err != nil {
		return fmt.Errorf("insert %T: %w", row, err)
	}
	return nil
}

func selectTenant(ctx context.Context, db bun.IDB, id TenantID) (Tenant, error) {
	var tenant Tenant
	err := db.NewSelect().Model(&tenant).Where("t.id = ?", id).Scan(ctx)
	return tenant, postgres.OrNoSuch(err, "tenant", string(id))
}

func listTenants(ctx context.Context, db bun.IDB, params postgres.PageParams) ([]Tenant, string, error) {
	var tenants []Tenant
	query := db.NewSelect().Model(&tenants).Comment(postgres.AllTenants("the operator lists tenants"))
	return postgres.List(ctx, params, query, &tenants, func(t Tenant) postgres.Key {
		return postgres.Key{CreatedAt: t.CreatedAt, ID: string(t.ID)}
	})
}

// selectTenants returns at most two tenants with an id or name; empty: of all.
func selectTenants(ctx context.Context, db bun.IDB, idOrName string) (tenants []Tenant, err error) {
	query := db.NewSelect().Model(&tenants).Comment(postgres.AllTenants("the installation's setting names the tenant of people"))
	if idOrName != "" {
		query = query.Where("(t.id = ? OR t.name = ?)", idOrName, idOrName)
	}
	err = query.OrderExpr("t.id").Limit(2).Scan(ctx)
	return tenants, err
}

// planSince sets when a tenant got its plan. Parameters: the plan, the time.
const planSince = "plan_since = CASE WHEN t.plan = ? THEN t.plan_since ELSE ?::timestamptz END"

func updateTenantPlan(ctx context.Context, db bun.IDB, id TenantID, plan string, now time.Time) (Tenant, error) {
	var tenant Tenant
	err := db.NewUpdate().Model(&tenant).Set("plan = ?", plan).Set("plan_by_billing = false").Set(planSince, plan, now).
		Set("updated_at = ?", now).
		Where("id = ?", id).Returning("*").Scan(ctx)
	return tenant, postgres.OrNoSuch(err, "tenant", string(id))
}

func deleteTenant(ctx context.Context, db bun.IDB, id TenantID) error {
	found, err := postgres.Changed(db.NewDelete().Model((*Tenant)(nil)).Where("id = ?", id).Exec(ctx))
	if err == nil && !found {
		return fault.NoSuch("tenant", string(id))
	}
	return err
}

func selectWorkspace(ctx context.Context, db bun.IDB, ref Ref) (Workspace, error) {
	var workspace Workspace
	err := db.NewSelect().Model(&workspace).Where("w.tenant_id = ?", ref.TenantID).Where("w.id = ?", ref.ID).Scan(ctx)
	return workspace, postgres.OrNoSuch(err, "workspace", string(ref.ID))
}

func listWorkspaces(ctx context.Context, db bun.IDB, p Principal, params postgres.PageParams) ([]Workspace, string, error) {
	var workspaces []Workspace
	query := db.NewSelect().Model(&workspaces).Where("w.tenant_id = ?", p.TenantID)
	if p.WorkspaceID != "" {
		query = query.Where("w.id = ?", p.WorkspaceID)
	}
	return postgres.List(ctx, params, query, &workspaces, func(w Workspace) postgres.Key {
		return postgres.Key{CreatedAt: w.CreatedAt, ID: string(w.ID)}
	})
}

func updateWorkspace(ctx context.Context, db bun.IDB, ref Ref, change WorkspaceChange, now time.Time) (Workspace, error) {
	var workspace Workspace
	update := db.NewUpdate().Model(&workspace).Set("updated_at = ?", now).
		Where("tenant_id = ?", ref.TenantID).Where("id = ?", ref.ID).Returning("*")
	if change.Name != nil {
		update = update.Set("name = ?", *change.Name)
	}
	if change.Retention != nil {
		update = update.Set("transcript_days = ?", change.Retention.TranscriptDays).Set("audio_days = ?", change.Retention.AudioDays)
	}
	err := update.Scan(ctx)
	return workspace, postgres.OrNoSuch(err, "workspace", string(ref.ID))
}

func deleteWorkspace(ctx context.Context, db bun.IDB, ref Ref) (bool, error) {
	return postgres.Changed(db.NewDelete().Model((*Workspace)(nil)).
		Where("tenant_id = ?", ref.TenantID).Where("id = ?", ref.ID).Exec(ctx))
}

// selectKeyByHash finds the key that a secret opens at now. It is the only statement without a
// tenant: it finds the tenant.
func selectKeyByHash(ctx context.Context, db bun.IDB, hash []byte, now time.Time) (Key, string, error) {
	var row struct {
		Key  `bun:",extend"`
		Plan string `bun:"plan"`
	}
	err := db.NewSelect().Model(&row).Comment(postgres.AllTenants("the key tells the tenant")).ColumnExpr("k.*").ColumnExpr("t.plan").
		Join("JOIN tenants AS t ON t.id = k.tenant_id").
		Where("k.secret_hash = ? OR (k.old_secret_hash = ? AND k.old_secret_expires_at > ?)", hash, hash, now).Scan(ctx)
	return row.Key, row.Plan, err
}

func touchKey(ctx context.Context, db bun.IDB, tenant TenantID, id KeyID, now time.Time) error {
	_, err := db.NewUpdate().Model((*Key)(nil)).Set("last_used_at = ?", now).
		Where("tenant_id = ?", tenant).Where("id = ?", id).Exec(ctx)
	return err
}

func selectKey(ctx context.Context, db bun.IDB, p Principal, id KeyID) (Key, error) {
	return scanKey(ctx, db.NewSelect(), p, id)
}

// lockKey is selectKey for a change: a second change waits for the end of tx.
func lockKey(ctx context.Context, tx bun.Tx, p Principal, id KeyID) (Key, error) {
	return scanKey(ctx, tx.NewSelect().For("UPDATE"), p, id)
}

func scanKey(ctx context.Context, query *bun.SelectQuery, p Principal, id KeyID) (Key, error) {
	var key Key
	err := query.Model(&key).Where("k.tenant_id = ?", p.TenantID).Where("k.id = ?", id).Scan(ctx)
	return key, postgres.OrNoSuch(err, "API key", string(id))
}

func listKeys(ctx context.Context, db bun.IDB, p Principal, params postgres.PageParams) ([]Key, string, error) {
	var keys []Key
	query := db.NewSelect().Model(&keys).Where("k.tenant_id = ?", p.TenantID)
	return postgres.List(ctx, params, query, &keys, func(k Key) postgres.Key {
		return postgres.Key{CreatedAt: k.CreatedAt, ID: string(k.ID)}
	})
}

func updateKey(ctx context.Context, db bun.IDB, key Key, columns ...string) error {
	_, err := db.NewUpdate().Model(&key).Column(columns...).
		Where("tenant_id = ?", key.TenantID).Where("id = ?", key.ID).Exec(ctx)
	return err
}

func deleteKey(ctx context.Context, db bun.IDB, p Principal, id KeyID) (bool, error) {
	return postgres.Changed(db.NewDelete().Model((*Key)(nil)).Where("tenant_id = ?", p.TenantID).Where("id = ?", id).Exec(ctx))
}

func insertTombstones(ctx context.Context, db bun.IDB, tenant TenantID, ids []string, now time.Time) error {
	_, err := db.ExecContext(ctx, `
		INSERT INTO tombstones (tenant_id, id, deleted_at)
		SELECT ?, unnest(?::text[]), ?
		ON CONFLICT DO NOTHING`, tenant, pgdialect.Array(ids), now)
	if err != nil {
		return fmt.Errorf("bury %s: %w", strings.Join(ids, ", "), err)
	}
	return nil
}

func selectTombstone(ctx context.Context, db bun.IDB, tenant TenantID, id string) (bool, error) {
	var buried bool
	err := db.NewRaw(`
		SELECT EXISTS (
			SELECT 1
			FROM tombstones
			WHERE tenant_id = ?
			  AND id = ?
		)`, tenant, id).Scan(ctx, &buried)
	return buried, err
}
