package callbacks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
)

const (
	// catchUp is how late a run may be made. Source: our own; a call an hour late is still the call
	// that was planned.
	catchUp = time.Hour
	// sweepBatch is how many schedules one sweep looks at.
	sweepBatch = 100
	// maxRuns bounds the runs of one schedule in a sweep; the next sweep goes on.
	maxRuns = 100
)

// dueSchedulesSQL locks schedules of which a run is due.
const dueSchedulesSQL = `
SELECT sch.*
FROM callback_schedules AS sch
WHERE sch.enabled
  AND sch.due_at IS NOT NULL
  AND sch.due_at <= ?
ORDER BY sch.due_at
LIMIT 1
FOR UPDATE SKIP LOCKED`

// Sweep makes callbacks of the runs of schedules that are due. It may run in many processes.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	for range sweepBatch {
		more, err := s.runDue(ctx, now)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// runDue makes the due runs of one schedule. more says that there was one.
func (s *Service) runDue(ctx context.Context, now time.Time) (more bool, err error) {
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		var schedule Schedule
		err := tx.NewRaw(postgres.RawForAllTenants("the schedules of all tenants run", dueSchedulesSQL), now).Scan(ctx, &schedule)
		if more = err == nil; postgres.NoRows(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock a schedule that is due: %w", err)
		}
		_, err = s.Agents.Get(ctx, schedule.Ref(), schedule.AgentID)
		if fault.IsReason(err, fault.ResourceNotFound) { // nobody is there to call
			schedule.Enabled, schedule.UpdatedAt = false, now
			return updateSchedule(ctx, tx, schedule)
		}
		if err != nil {
			return err
		}
		for range maxRuns {
			if schedule.DueAt.IsZero() || schedule.DueAt.After(now) {
				break
			}
			if err := s.run(ctx, tx, &schedule, now); err != nil {
				return err
			}
		}
		return updateSchedule(ctx, tx, schedule)
	})
	return more, err
}

// run makes the callback of a run, and moves the schedule on. One of a run that is too late has
// failed, so that it is seen.
func (s *Service) run(ctx context.Context, tx bun.Tx, schedule *Schedule, now time.Time) error {
	callback := Callback{
		ID: ID(idgen.New(idgen.Callback)), TenantID: schedule.TenantID, WorkspaceID: schedule.WorkspaceID, AgentID: schedule.AgentID,
		UserID: schedule.UserID, PhoneNumber: schedule.PhoneNumber, Timezone: schedule.Timezone, Reason: schedule.Reason, Status: Scheduled,
		CreatedBy: BySchedule, ScheduleID: schedule.ID, RunAt: schedule.RunAt, DynamicVariables: schedule.DynamicVariables,
		At: schedule.DueAt, DueAt: schedule.DueAt, CreatedAt: now, UpdatedAt: now,
	}
	if now.Sub(schedule.DueAt) > catchUp {
		callback.Status, callback.EndReason, callback.EndedAt = Failed, EndMissed, now
		schedule.SkippedRuns, schedule.LastSkippedAt = schedule.SkippedRuns+1, schedule.DueAt
		if err := s.forget(ctx, &callback); err != nil {
			return err
		}
	}
	_, err := tx.NewInsert().Model(&callback).
		On("CONFLICT (schedule_id, run_at) WHERE schedule_id <> '' AND run_at IS NOT NULL DO NOTHING").Exec(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("store the callback of a run: %w", err)
	}
	schedule.RunAt = schedule.next(schedule.RunAt)
	schedule.DueAt = schedule.RunAt
	return err
}
