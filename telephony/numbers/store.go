package numbers

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const noun = "phone number"

func insertNumber(ctx context.Context, db bun.IDB, n Number) error {
	if _, err := db.NewInsert().Model(&n).Exec(ctx); err != nil {
		return fmt.Errorf("insert phone number: %w", err)
	}
	return nil
}

func selectNumber(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID) (Number, error) {
	return scanNumber(ctx, db.NewSelect(), ref, id)
}

// lockNumber is selectNumber with a lock against other changes of the number.
func lockNumber(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id ID) (Number, error) {
	return scanNumber(ctx, tx.NewSelect().For("NO KEY UPDATE"), ref, id)
}

func scanNumber(ctx context.Context, q *bun.SelectQuery, ref workspaces.Ref, id ID) (Number, error) {
	if !idgen.Valid(idgen.Number, string(id)) {
		return Number{}, fault.NoSuch(noun, string(id))
	}
	var n Number
	err := q.Model(&n).Where("n.tenant_id = ?", ref.TenantID).Where("n.workspace_id = ?", ref.ID).Where("n.id = ?", id).Scan(ctx)
	return n, postgres.OrNoSuch(err, noun, string(id))
}

// selectAnyNumber reads a number of any tenant.
func selectAnyNumber(ctx context.Context, db bun.IDB, id ID) (Number, error) {
	if !idgen.Valid(idgen.Number, string(id)) {
		return Number{}, fault.NoSuch(noun, string(id))
	}
	var n Number
	err := db.NewSelect().Model(&n).Where("n.id = ?", id).
		Comment(postgres.AllTenants("a carrier's webhook names a number, and no tenant")).Scan(ctx)
	return n, postgres.OrNoSuch(err, noun, string(id))
}

func listNumbers(ctx context.Context, db bun.IDB, ref workspaces.Ref, params postgres.PageParams) ([]Number, string, error) {
	var list []Number
	query := db.NewSelect().Model(&list).Where("n.tenant_id = ?", ref.TenantID).Where("n.workspace_id = ?", ref.ID)
	return postgres.List(ctx, params, query, &list, func(n Number) postgres.Key {
		return postgres.Key{CreatedAt: n.CreatedAt, ID: string(n.ID)}
	})
}

// listConfigured reads the numbers of all tenants of which a carrier was told.
func listConfigured(ctx context.Context, db bun.IDB) ([]Number, error) {
	var list []Number
	err := db.NewSelect().Model(&list).Where("n.configured").OrderExpr("n.id").
		Comment(postgres.AllTenants("a carrier that has forgotten its numbers is told of them again")).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the phone numbers that a carrier was told of: %w", err)
	}
	return list, nil
}

// updateNumber writes the columns that change after the insertion.
func updateNumber(ctx context.Context, db bun.IDB, n Number) error {
	_, err := db.NewUpdate().Model(&n).
		Column("agent_id", "name", "enabled", "lookup_url", "lookup_secret", "lookup_secret_hint", "dynamic_variables",
			"configured", "updated_at").
		Where("tenant_id = ?", n.TenantID).Where("id = ?", n.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update phone number: %w", err)
	}
	return nil
}

func deleteNumber(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID) (bool, error) {
	return postgres.Changed(db.NewDelete().Model((*Number)(nil)).Where("tenant_id = ?", ref.TenantID).
		Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx))
}

// IsForeign reports whether a number is one of another tenant: then a tenant may not call with it.
func (s *Service) IsForeign(ctx context.Context, tenant workspaces.TenantID, e164 string) (bool, error) {
	var owner workspaces.TenantID
	err := s.db.NewSelect().Model((*Number)(nil)).Column("tenant_id").Where("n.phone_number = ?", e164).
		Comment(postgres.AllTenants("tenants share the installation's account at the carrier")).Scan(ctx, &owner)
	if postgres.NoRows(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the owner of a number: %w", err)
	}
	return owner != tenant, nil
}

// First returns the number that a workspace has had for the longest time and that is enabled; empty
// when there is none.
func (s *Service) First(ctx context.Context, ref workspaces.Ref) (string, error) {
	var number string
	err := s.db.NewSelect().Model((*Number)(nil)).Column("phone_number").Where("n.tenant_id = ?", ref.TenantID).
		Where("n.workspace_id = ?", ref.ID).Where("n.enabled").OrderExpr("n.created_at, n.id").Limit(1).Scan(ctx, &number)
	if err != nil && !postgres.NoRows(err) {
		return "", fmt.Errorf("read the first number of a workspace: %w", err)
	}
	return number, nil
}
