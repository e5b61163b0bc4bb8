package workspaces

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// defaultPerTenant is how many workspaces and how many keys a tenant may have, unless Deps has
// other numbers. Source: our own.
const defaultPerTenant = 1000

// admitWorkspaceTx lets tx insert a workspace unless the tenant has as many as it may have. Others
// who want to insert one wait for the end of tx. Errors: Precondition workspaces-full.
func (s *Service) admitWorkspaceTx(ctx context.Context, tx bun.Tx, tenant TenantID) error {
	if err := postgres.LockTx(ctx, tx, "parlance.workspaces."+string(tenant)); err != nil {
		return err
	}
	n, err := tx.NewSelect().Model((*Workspace)(nil)).Where("tenant_id = ?", tenant).Count(ctx)
	if err != nil {
		return fmt.Errorf("count workspaces: %w", err)
	}
	if n >= int64(s.maxWorkspaces) {
		return fault.New(fault.WorkspacesFull, "A tenant can have at most %d workspaces; delete some that are not needed.", s.maxWorkspaces)
	}
	return nil
}

// admitKeyTx is admitWorkspaceTx for a key that has not expired. Expired keys are not counted.
// Errors: Precondition api-keys-full.
func (s *Service) admitKeyTx(ctx context.Context, tx bun.Tx, tenant TenantID, now time.Time) error {
	if err := postgres.LockTx(ctx, tx, "parlance.api_keys."+string(tenant)); err != nil {
		return err
	}
	n, err := tx.NewSelect().Model((*Key)(nil)).Where("tenant_id = ?", tenant).Where("expires_at IS NULL OR expires_at > ?", now).Count(ctx)
	if err != nil {
		return fmt.Errorf("count API keys: %w", err)
	}
	if n >= int64(s.maxKeys) {
		return fault.New(fault.KeysFull, "A tenant can have at most %d API keys that have not expired; delete some that are not needed.",
			s.maxKeys)
	}
	return nil
}
