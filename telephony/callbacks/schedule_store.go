package callbacks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// findSchedule reads a schedule; lock is empty or UPDATE. Errors: NotFound.
func findSchedule(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ScheduleID, lock string) (Schedule, error) {
	if !idgen.Valid(idgen.Schedule, string(id)) {
		return Schedule{}, fault.NoSuch("schedule", string(id))
	}
	var schedule Schedule
	query := db.NewSelect().Model(&schedule).Where("sch.tenant_id = ?", ref.TenantID).
		Where("sch.workspace_id = ?", ref.ID).Where("sch.id = ?", id)
	if lock != "" {
		query.For(lock)
	}
	err := query.Scan(ctx)
	if postgres.NoRows(err) {
		return Schedule{}, fault.NoSuch("schedule", string(id))
	}
	if err != nil {
		return Schedule{}, fmt.Errorf("read a schedule: %w", err)
	}
	return schedule, nil
}

// findScheduleOf locks a schedule, of a user unless userID is empty.
func findScheduleOf(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id ScheduleID, userID string) (Schedule, error) {
	schedule, err := findSchedule(ctx, tx, ref, id, "UPDATE")
	if err == nil && userID != "" && schedule.UserID != userID {
		return Schedule{}, fault.NoSuch("schedule", string(id))
	}
	return schedule, err
}

func insertSchedule(ctx context.Context, db bun.IDB, schedule Schedule) error {
	if _, err := db.NewInsert().Model(&schedule).Exec(ctx); err != nil {
		return fmt.Errorf("store a schedule: %w", err)
	}
	return nil
}

// updateSchedule writes what can change of a schedule.
func updateSchedule(ctx context.Context, db bun.IDB, schedule Schedule) error {
	_, err := db.NewUpdate().Model(&schedule).Column("agent_id", "phone_number", "cron", "timezone", "reason", "starts_at", "ends_at",
		"exceptions", "enabled", "dynamic_variables", "run_at", "due_at", "skipped_runs", "last_skipped_at", "updated_at").
		Where("sch.tenant_id = ?", schedule.TenantID).Where("sch.id = ?", schedule.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write a schedule: %w", err)
	}
	return nil
}

// cancelScheduled cancels the scheduled callbacks of a schedule or batch, which column names.
func (s *Service) cancelScheduled(ctx context.Context, tx bun.Tx, ref workspaces.Ref, column, id string, now time.Time) error {
	var of []agents.ID
	err := tx.NewSelect().Model((*Callback)(nil)).ColumnExpr("DISTINCT cb.agent_id").Where("cb.tenant_id = ?", ref.TenantID).
		Where("cb.? = ?", bun.Ident(column), id).Where("cb.status = ?", Scheduled).Scan(ctx, &of)
	if err != nil {
		return fmt.Errorf("read whose callbacks are canceled: %w", err)
	}
	for _, agent := range of {
		query := tx.NewUpdate().Model((*Callback)(nil)).Set("status = ?", Canceled).Set("end_reason = ?", EndCanceled).
			Set("ended_at = ?", now).Set("updated_at = ?", now).Set("waits_for = ''").
			Where("cb.tenant_id = ?", ref.TenantID).Where("cb.? = ?", bun.Ident(column), id).Where("cb.status = ?", Scheduled).
			Where("cb.agent_id = ?", agent)
		forgets, err := s.forgets(ctx, ref, agent)
		if err != nil {
			return err
		}
		if forgets {
			query.Set("reason = ''").Set("dynamic_variables = '{}'")
		}
		if _, err := query.Exec(ctx); err != nil {
			return fmt.Errorf("cancel callbacks: %w", err)
		}
	}
	return nil
}
