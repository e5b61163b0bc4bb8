package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// pendingRow is a change that has begun.
type pendingRow struct {
	bun.BaseModel `bun:"table:audit_pending,alias:p"`

	TenantID workspaces.TenantID `bun:"tenant_id,pk"`
	ID       ID                  `bun:"id,pk"`
	BegunAt  time.Time           `bun:"begun_at"`
	Entry    Entry               `bun:"entry,type:jsonb"`
}

// insertPending notes a change. A row that is there already is this one: when its connection is
// lost the statement is sent again, and may have been done.
func insertPending(ctx context.Context, db bun.IDB, e Entry) error {
	row := pendingRow{TenantID: e.TenantID, ID: e.ID, BegunAt: e.BegunAt, Entry: e}
	if _, err := db.NewInsert().Model(&row).On("CONFLICT (tenant_id, id) DO NOTHING").Exec(ctx); err != nil {
		return fmt.Errorf("note a change for the audit log: %w", err)
	}
	return nil
}

// deletePending deletes the pending row of an entry and reports whether there was one.
func deletePending(ctx context.Context, db bun.IDB, e Entry) (bool, error) {
	return postgres.Changed(db.NewDelete().Model((*pendingRow)(nil)).
		Where("tenant_id = ?", e.TenantID).Where("id = ?", e.ID).Exec(ctx))
}

func selectStale(ctx context.Context, db bun.IDB, before time.Time, limit int64) ([]pendingRow, error) {
	var rows []pendingRow
	err := db.NewSelect().Model(&rows).Where("p.begun_at < ?", before).OrderExpr("p.begun_at").Limit(limit).
		Comment(postgres.AllTenants("a worker settles the changes of processes that have died")).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read changes of processes that have died: %w", err)
	}
	return rows, nil
}

// selectLast returns the number, time and hash of the last entry of a tenant. Without entries the
// number is 0 and the hash 32 zero bytes.
func selectLast(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID) (Entry, error) {
	last := Entry{Hash: make([]byte, HashBytes)}
	err := tx.NewSelect().Model(&last).Column("number", "at", "hash").
		Where("e.tenant_id = ?", tenant).OrderExpr("e.number DESC").Limit(1).Scan(ctx)
	if err != nil && !postgres.NoRows(err) {
		return Entry{}, fmt.Errorf("read the last entry of the audit log: %w", err)
	}
	return last, nil
}

func exists(ctx context.Context, tx bun.Tx, e Entry) (bool, error) {
	return tx.NewSelect().Model((*Entry)(nil)).Where("e.tenant_id = ?", e.TenantID).Where("e.id = ?", e.ID).Exists(ctx)
}

func insertEntry(ctx context.Context, tx bun.Tx, e Entry) error {
	if _, err := tx.NewInsert().Model(&e).Exec(ctx); err != nil {
		return fmt.Errorf("write an entry of the audit log: %w", err)
	}
	return nil
}

func listEntries(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, p ListParams) ([]Entry, string, error) {
	page, err := postgres.NewPage(p.Page)
	if err != nil {
		return nil, "", err
	}
	var entries []Entry
	query := db.NewSelect().Model(&entries).Where("e.tenant_id = ?", tenant)
	if p.WorkspaceID != "" {
		query = query.Where("e.workspace_id = ?", p.WorkspaceID)
	}
	if p.ActorID != "" {
		query = query.Where("(e.actor_id = ? OR e.actor_kind = ? AND e.actor_name = ?)", p.ActorID, ActorCommand, p.ActorID)
	}
	if p.Action != "" {
		query = query.Where("starts_with(e.action, ?)", p.Action)
	}
	if p.ResourceID != "" {
		query = query.Where("(e.resource_id = ? OR e.parent_id = ?)", p.ResourceID, p.ResourceID)
	}
	if p.UserHash != "" {
		query = query.Where("e.user_hash = ?", p.UserHash)
	}
	if !p.Since.IsZero() {
		query = query.Where("e.at >= ?", p.Since)
	}
	if !p.Until.IsZero() {
		query = query.Where("e.at < ?", p.Until)
	}
	if err := page.ApplyTo(query, postgres.Columns{CreatedAt: "e.at", ID: "e.id"}).Scan(ctx); err != nil {
		return nil, "", postgres.MapError(fmt.Errorf("list the audit log: %w", err))
	}
	entries, next := postgres.Cut(page, entries, func(e Entry) postgres.Key { return postgres.Key{CreatedAt: e.At, ID: string(e.ID)} })
	return entries, next, nil
}

func selectAfter(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, after, limit int64) ([]Entry, error) {
	var entries []Entry
	err := db.NewSelect().Model(&entries).Where("e.tenant_id = ?", tenant).Where("e.number > ?", after).
		OrderExpr("e.number").Limit(limit).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return entries, nil
}
