package workspaces

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

// rowLock is the lock that a SELECT takes.
type rowLock string

const (
	noLock        rowLock = ""
	lockForUpdate rowLock = "UPDATE"
)

// selectCredential reads one credential.
func selectCredential(ctx context.Context, db bun.IDB, ref Ref, id CredentialID, lock rowLock) (Credential, error) {
	var c Credential
	query := db.NewSelect().Model(&c).Where("c.tenant_id = ?", ref.TenantID).Where("c.workspace_id = ?", ref.ID).Where("c.id = ?", id)
	if lock != noLock {
		query = query.For(string(lock))
	}
	err := query.Scan(ctx)
	return c, postgres.OrNoSuch(err, "provider credential", string(id))
}

// selectOfKind reads the workspace's credentials of a kind: at most one a provider.
func selectOfKind(ctx context.Context, db bun.IDB, ref Ref, kind CredentialKind) ([]Credential, error) {
	var found []Credential
	err := db.NewSelect().Model(&found).
		Where("c.tenant_id = ?", ref.TenantID).Where("c.workspace_id = ?", ref.ID).Where("c.kind = ?", kind).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read provider credentials: %w", err)
	}
	return found, nil
}

func listCredentials(ctx context.Context, db bun.IDB, ref Ref, params postgres.PageParams) ([]Credential, string, error) {
	var list []Credential
	query := db.NewSelect().Model(&list).Where("c.tenant_id = ?", ref.TenantID).Where("c.workspace_id = ?", ref.ID)
	return postgres.List(ctx, params, query, &list, func(c Credential) postgres.Key {
		return postgres.Key{CreatedAt: c.CreatedAt, ID: string(c.ID)}
	})
}

func updateCredential(ctx context.Context, db bun.IDB, c Credential) error {
	_, err := db.NewUpdate().Model(&c).Column("name", "base_url", "account_id", "default_model", "api_key", "api_key_hint", "updated_at").
		Where("tenant_id = ?", c.TenantID).Where("id = ?", c.ID).Exec(ctx)
	return err
}

func deleteCredential(ctx context.Context, db bun.IDB, ref Ref, id CredentialID) (bool, error) {
	return postgres.Changed(db.NewDelete().Model((*Credential)(nil)).
		Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("id = ?", id).Exec(ctx))
}
