package sessions

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// ReasonErased is the reason of the end of a session that is about to be deleted. Its end is not
// announced.
const ReasonErased = "erased"

// Discard ends those of a workspace's sessions that are open, which are to be deleted, and waits
// until they are closed. Errors: Unavailable unavailable.
func (s *Service) Discard(ctx context.Context, ref workspaces.Ref, ids []ID) error {
	var open []Session
	err := s.db.NewSelect().Model(&open).Where("s.tenant_id = ?", ref.TenantID).Where("s.workspace_id = ?", ref.ID).
		Where("s.id IN (?)", bun.List(ids)).Where("s.ended_at IS NULL").Scan(ctx)
	if err != nil {
		return fmt.Errorf("reading open sessions: %w", err)
	}
	return s.discard(ctx, open)
}

// DiscardRunning ends the sessions of a workspace in which a turn runs, as Discard does: their
// streams end before the workspace is deleted.
func (s *Service) DiscardRunning(ctx context.Context, ref workspaces.Ref) error {
	var running []Session
	err := s.db.NewSelect().Model(&running).Where("s.tenant_id = ?", ref.TenantID).Where("s.workspace_id = ?", ref.ID).
		Where("s.running_turn_id <> ''").Where("s.ended_at IS NULL").Scan(ctx)
	if err != nil {
		return fmt.Errorf("reading sessions with a running turn: %w", err)
	}
	return s.discard(ctx, running)
}

// discard ends sessions and waits until they are closed. All are told before one is waited for.
func (s *Service) discard(ctx context.Context, open []Session) error {
	var closing []Session
	for _, session := range open {
		after, err := s.RequestEnd(ctx, session, Completed, ReasonErased)
		switch {
		case fault.IsReason(err, fault.ResourceNotFound):
		case err != nil:
			return err
		case !after.Closed():
			closing = append(closing, session)
		}
	}
	for _, session := range closing {
		_, err := s.awaitEnd(ctx, session, Completed, ReasonErased)
		if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
			return err
		}
	}
	return nil
}

// PageOfUser reads ids of a user's sessions in their order, from the one behind after; at most
// limit.
func PageOfUser(ctx context.Context, db bun.IDB, ref workspaces.Ref, userID string, after ID, limit int) ([]ID, error) {
	var ids []ID
	err := db.NewSelect().Model((*Session)(nil)).Column("id").Where("s.tenant_id = ?", ref.TenantID).
		Where("s.workspace_id = ?", ref.ID).Where(`s.user_id COLLATE "C" = ?`, userID).Where("s.id > ?", after).
		OrderExpr("s.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("reading a user's sessions: %w", err)
	}
	return ids, nil
}

// LockClosed locks those of the sessions that are closed, in the order of their ids.
func LockClosed(ctx context.Context, tx bun.Tx, ref workspaces.Ref, ids []ID) ([]ID, error) {
	var closed []ID
	err := tx.NewSelect().Model((*Session)(nil)).Column("id").Where("s.tenant_id = ?", ref.TenantID).
		Where("s.workspace_id = ?", ref.ID).Where("s.id IN (?)", bun.List(ids)).Where("s.ended_at IS NOT NULL").
		OrderExpr("s.id").For("UPDATE").Scan(ctx, &closed)
	if err != nil {
		return nil, fmt.Errorf("locking sessions: %w", err)
	}
	return closed, nil
}

// Existing returns those of the ids that sessions of any tenant have.
func Existing(ctx context.Context, db *postgres.DB, ids []string) ([]string, error) {
	var existing []string
	err := db.NewSelect().Model((*Session)(nil)).Comment(postgres.AllTenants("a node's journal knows no tenant")).Column("id").
		Where("s.id IN (?)", bun.List(ids)).Scan(ctx, &existing)
	if err != nil {
		return nil, fmt.Errorf("looking which sessions exist: %w", err)
	}
	return existing, nil
}
