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

// Room is how many workspaces and keys a tenant has, and may have.
type Room struct{ Workspaces, MaxWorkspaces, Keys, MaxKeys int }

// Room returns the room of a tenant.
func (s *Service) Room(ctx context.Context, tenant TenantID) (Room, error) {
	room := Room{MaxWorkspaces: s.maxWorkspaces, MaxKeys: s.maxKeys}
	n, err := countWorkspaces(ctx, s.db, tenant)
	if err != nil {
		return Room{}, err
	}
	room.Workspaces = n
	room.Keys, err = countKeys(ctx, s.db, tenant, s.timestamp())
	return room, err
}

func countWorkspaces(ctx context.Context, db bun.IDB, tenant TenantID) (int, error) {
	n, err := db.NewSelect().Model((*Workspace)(nil)).Where("tenant_id = ?", tenant).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count workspaces: %w", err)
	}
	return int(n), nil
}

// countKeys counts the keys that have not expired.
func countKeys(ctx context.Context, db bun.IDB, tenant TenantID, now time.Time) (int, error) {
	n, err := db.NewSelect().Model((*Key)(nil)).Where("tenant_id = ?", tenant).Where("expires_at IS NULL OR expires_at > ?", now).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count API keys: %w", err)
	}
	return int(n), nil
}

// admitWorkspaceTx lets tx insert a workspace unless the tenant has as many as it may have. Others
// who want to insert one wait for the end of tx. Errors: Precondition workspaces-full.
func (s *Service) admitWorkspaceTx(ctx context.Context, tx bun.Tx, tenant TenantID) error {
	if err := postgres.LockTx(ctx, tx, "parlance.workspaces."+string(tenant)); err != nil {
		return err
	}
	n, err := countWorkspaces(ctx, tx, tenant)
	if err != nil {
		return err
	}
	if n >= s.maxWorkspaces {
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
	n, err := countKeys(ctx, tx, tenant, now)
	if err != nil {
		return err
	}
	if n >= s.maxKeys {
		return fault.New(fault.KeysFull, "A tenant can have at most %d API keys that have not expired; delete some that are not needed.",
			s.maxKeys)
	}
	return nil
}
