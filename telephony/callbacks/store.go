package callbacks

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

// find reads a callback; lock is empty or UPDATE. Errors: NotFound.
func find(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, lock string) (Callback, error) {
	if !idgen.Valid(idgen.Callback, string(id)) {
		return Callback{}, fault.NoSuch("callback", string(id))
	}
	var callback Callback
	query := db.NewSelect().Model(&callback).Where("cb.tenant_id = ?", ref.TenantID).
		Where("cb.workspace_id = ?", ref.ID).Where("cb.id = ?", id)
	if lock != "" {
		query.For(lock)
	}
	err := query.Scan(ctx)
	if postgres.NoRows(err) {
		return Callback{}, fault.NoSuch("callback", string(id))
	}
	if err != nil {
		return Callback{}, fmt.Errorf("read a callback: %w", err)
	}
	return callback, nil
}

// findOf is find for a callback of a user, unless userID is empty.
func findOf(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID, userID, lock string) (Callback, error) {
	callback, err := find(ctx, db, ref, id, lock)
	if err == nil && userID != "" && callback.UserID != userID {
		return Callback{}, fault.NoSuch("callback", string(id))
	}
	return callback, err
}

// lockUser has callbacks of a user planned one after the other, so that each sees the others.
func lockUser(ctx context.Context, tx bun.Tx, ref workspaces.Ref, userID string) error {
	return postgres.LockTx(ctx, tx, "callbacks of "+string(ref.ID)+" "+userID)
}

func insert(ctx context.Context, db bun.IDB, callbacks ...*Callback) error {
	if _, err := db.NewInsert().Model(&callbacks).Exec(ctx); err != nil {
		return fmt.Errorf("store callbacks: %w", err)
	}
	return nil
}

// update writes columns of a callback.
func update(ctx context.Context, db bun.IDB, callback Callback, columns ...string) error {
	_, err := db.NewUpdate().Model(&callback).Column(columns...).
		Where("cb.tenant_id = ?", callback.TenantID).Where("cb.id = ?", callback.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write a callback: %w", err)
	}
	return nil
}

func list(ctx context.Context, db bun.IDB, ref workspaces.Ref, params ListParams) ([]Callback, string, error) {
	params.Page.Order = postgres.NewestFirst
	params.Page.Filters = []string{
		string(ref.TenantID), string(ref.ID), string(params.Status), params.AgentID, params.UserID, params.ScheduleID, params.BatchID,
		postgres.TimeFilter(params.From), postgres.TimeFilter(params.Until),
	}
	page, err := postgres.NewPage(params.Page)
	if err != nil {
		return nil, "", err
	}
	var callbacks []Callback
	query := db.NewSelect().Model(&callbacks).Where("cb.tenant_id = ?", ref.TenantID).Where("cb.workspace_id = ?", ref.ID)
	for column, value := range map[string]string{
		"status": string(params.Status), "agent_id": params.AgentID, "user_id": params.UserID,
		"schedule_id": params.ScheduleID, "batch_id": params.BatchID,
	} {
		if value != "" {
			query.Where("cb.? = ?", bun.Ident(column), value)
		}
	}
	within(query, params.From, params.Until)
	if err := page.ApplyTo(query, postgres.Columns{CreatedAt: "cb.at", ID: "cb.id"}).Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list callbacks: %w", err)
	}
	callbacks, next := postgres.Cut(page, callbacks, func(c Callback) postgres.Key { return postgres.Key{CreatedAt: c.At, ID: string(c.ID)} })
	return callbacks, next, nil
}

// within bounds the times that callbacks are planned for; zero bounds nothing.
func within(query *bun.SelectQuery, from, until time.Time) {
	if !from.IsZero() {
		query.Where("cb.at >= ?", from)
	}
	if !until.IsZero() {
		query.Where("cb.at < ?", until)
	}
}
