package callbacks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// EraseUserTx deletes the callbacks of a user, and counts them. A batch whose last open callback
// goes is completed.
func EraseUserTx(ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string, now time.Time) (int, error) {
	return erase(ctx, tx, ref, now, func(q *bun.DeleteQuery) { q.Where("cb.user_id = ?", userID) })
}

// EraseSessionsTx is EraseUserTx for the callbacks whose last call had one of the sessions.
func EraseSessionsTx(ctx context.Context, tx bun.Tx, ref workspaces.Ref, ids []sessions.ID, now time.Time) (int, error) {
	return erase(ctx, tx, ref, now, func(q *bun.DeleteQuery) { q.Where("cb.session_id IN (?)", bun.List(ids)) })
}

func erase(ctx context.Context, tx bun.Tx, ref workspaces.Ref, now time.Time, narrow func(*bun.DeleteQuery)) (int, error) {
	var batches []BatchID // one for each callback; empty for those of none
	query := tx.NewDelete().Model((*Callback)(nil)).Where("cb.tenant_id = ?", ref.TenantID).Where("cb.workspace_id = ?", ref.ID).
		Returning("cb.batch_id")
	narrow(query)
	if err := query.Scan(ctx, &batches); err != nil {
		return 0, fmt.Errorf("delete callbacks: %w", err)
	}
	n := len(batches)
	slices.Sort(batches) // so that two erasures lock them in the same order
	for _, id := range slices.Compact(batches) {
		if id == "" {
			continue
		}
		if err := settleBatch(ctx, tx, ref, id, now); err != nil {
			return 0, err
		}
	}
	return n, nil
}
