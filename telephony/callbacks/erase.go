package callbacks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/workspaces"
)

// EraseUserTx deletes the callbacks of a user with the last call of each, and counts the callbacks.
// The caller deletes all calls of the user before, as locks are taken in that order; but a callback
// may be dialed until it is deleted. A batch whose last open callback goes is completed.
func EraseUserTx(ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string, now time.Time) (int, error) {
	return erase(ctx, tx, ref, now, func(q *bun.DeleteQuery) { q.Where("cb.user_id = ?", userID) })
}

// EraseSessionsTx is EraseUserTx for the callbacks whose last call had one of the sessions.
func EraseSessionsTx(ctx context.Context, tx bun.Tx, ref workspaces.Ref, ids []sessions.ID, now time.Time) (int, error) {
	return erase(ctx, tx, ref, now, func(q *bun.DeleteQuery) { q.Where("cb.session_id IN (?)", bun.List(ids)) })
}

func erase(ctx context.Context, tx bun.Tx, ref workspaces.Ref, now time.Time, narrow func(*bun.DeleteQuery)) (int, error) {
	var erased []Callback
	query := tx.NewDelete().Model((*Callback)(nil)).Where("cb.tenant_id = ?", ref.TenantID).Where("cb.workspace_id = ?", ref.ID).
		Returning("cb.batch_id").Returning("cb.call_id")
	narrow(query)
	if err := query.Scan(ctx, &erased); err != nil {
		return 0, fmt.Errorf("delete callbacks: %w", err)
	}
	batches, calls := make([]BatchID, len(erased)), make([]telephony.ID, len(erased)) // empty for those of none
	for i, c := range erased {
		batches[i], calls[i] = c.BatchID, c.CallID
	}
	_, err := tx.NewDelete().Model((*telephony.Call)(nil)).Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).
		Where("id = ANY (?)", pgdialect.Array(calls)).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("delete the last calls of callbacks: %w", err)
	}
	slices.Sort(batches) // so that two erasures lock them in the same order
	for _, id := range slices.Compact(batches) {
		if id == "" {
			continue
		}
		if err := settleBatch(ctx, tx, ref, id, now); err != nil {
			return 0, err
		}
	}
	return len(erased), nil
}
