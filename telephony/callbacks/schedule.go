package callbacks

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// shownRuns is how many of its next runs a schedule shows.
const shownRuns = 10

// maxExceptionsInARow bounds how many runs in a row are looked at that fall on exceptions.
const maxExceptionsInARow = 10_000

// Schedule is a call that repeats.
type Schedule struct {
	bun.BaseModel `bun:"table:callback_schedules,alias:sch"`

	ID          ScheduleID          `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	AgentID     agents.ID           `bun:"agent_id"`
	UserID      string              `bun:"user_id"`
	// PhoneNumber is E.164.
	PhoneNumber string `bun:"phone_number"`
	// Cron has five fields; Timezone is the IANA name that its times, and Exceptions, are in.
	Cron     string `bun:"cron"`
	Timezone string `bun:"timezone"`
	Reason   string `bun:"reason"`
	// StartsAt and EndsAt bound the runs; zero does not.
	StartsAt time.Time `bun:"starts_at,nullzero"`
	EndsAt   time.Time `bun:"ends_at,nullzero"`
	// Exceptions are days, YYYY-MM-DD, on which it does not run.
	Exceptions       []string          `bun:"exceptions,array"`
	Enabled          bool              `bun:"enabled"`
	DynamicVariables map[string]string `bun:"dynamic_variables,type:jsonb"`
	// RunAt is the next run by Cron, DueAt when it is made: RunAt, unless it was moved. Zero: there is
	// none.
	RunAt time.Time `bun:"run_at,nullzero"`
	DueAt time.Time `bun:"due_at,nullzero"`
	// SkippedRuns counts the runs that nobody made within an hour.
	SkippedRuns   int       `bun:"skipped_runs"`
	LastSkippedAt time.Time `bun:"last_skipped_at,nullzero"`
	CreatedAt     time.Time `bun:"created_at"`
	UpdatedAt     time.Time `bun:"updated_at"`
}

// Ref is the schedule's workspace.
func (s Schedule) Ref() workspaces.Ref {
	return workspaces.Ref{TenantID: s.TenantID, ID: s.WorkspaceID}
}

// next is the first run after a time; zero: there is none.
func (s Schedule) next(after time.Time) time.Time {
	zone, known := localtime.Zone(s.Timezone)
	if !known {
		return time.Time{}
	}
	runs, err := localtime.ParseCron(s.Cron, zone)
	if err != nil { // it was checked when it was stored
		return time.Time{}
	}
	if before := s.StartsAt.Add(-time.Nanosecond); !s.StartsAt.IsZero() && after.Before(before) {
		after = before
	}
	for range maxExceptionsInARow {
		at, ok := runs.Next(after)
		switch {
		case !ok || !s.EndsAt.IsZero() && !at.Before(s.EndsAt):
			return time.Time{}
		case !slices.Contains(s.Exceptions, at.In(zone).Format(time.DateOnly)):
			return at.UTC()
		}
		after = at
	}
	return time.Time{}
}

// NextRuns are the next runs of a schedule, at most so many and before until unless that is zero.
func (s Schedule) NextRuns(most int, until time.Time) []time.Time {
	var runs []time.Time
	if !s.Enabled {
		return nil
	}
	for at, after := s.DueAt, s.RunAt; !at.IsZero() && len(runs) < most && (until.IsZero() || at.Before(until)); {
		runs = append(runs, at)
		at = s.next(after)
		after = at
	}
	return runs
}

// Shown are the runs that a schedule shows.
func (s Schedule) Shown() []time.Time { return s.NextRuns(shownRuns, time.Time{}) }

// ScheduleParams describe a schedule. In an update, nil members do not change it.
type ScheduleParams struct {
	AgentID          *agents.ID
	UserID           string // not of an update
	PhoneNumber      *string
	Cron             *string
	Timezone         *string
	Reason           *string
	StartsAt, EndsAt *time.Time
	Exceptions       *[]string
	Enabled          *bool
	DynamicVariables *map[string]string
	// RunAt moves the next run; it is given as in CreateParams.At.
	RunAt *string
	// Owner, unless empty, is the only user whose schedule may be changed.
	Owner string
}

// CreateSchedule plans calls that repeat. Errors: NotFound (the agent), Precondition
// provider-not-configured, Invalid invalid-request.
func (s *Service) CreateSchedule(ctx context.Context, ref workspaces.Ref, p ScheduleParams) (Schedule, error) {
	now := s.now()
	schedule := Schedule{
		ID: ScheduleID(idgen.In(ctx, idgen.Schedule)), TenantID: ref.TenantID, WorkspaceID: ref.ID, UserID: p.UserID, Enabled: true,
		CreatedAt: now,
	}
	agent, err := s.applySchedule(ctx, &schedule, p, now)
	if err != nil {
		return Schedule{}, err
	}
	if _, _, err := s.Calls.Outbound(ctx, ref, agent); err != nil {
		return Schedule{}, err
	}
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if made, err := findSchedule(ctx, tx, ref, schedule.ID, ""); err == nil { // the request is repeated
			schedule = made
			return nil
		}
		return insertSchedule(ctx, tx, schedule)
	})
	return schedule, err
}

// apply applies parameters.
func (s *Schedule) apply(p ScheduleParams) {
	set(&s.AgentID, p.AgentID)
	set(&s.PhoneNumber, p.PhoneNumber)
	set(&s.Cron, p.Cron)
	set(&s.Timezone, p.Timezone)
	set(&s.Reason, p.Reason)
	set(&s.StartsAt, p.StartsAt)
	set(&s.EndsAt, p.EndsAt)
	set(&s.Exceptions, p.Exceptions)
	set(&s.Enabled, p.Enabled)
	set(&s.DynamicVariables, p.DynamicVariables)
	if s.Exceptions == nil {
		s.Exceptions = []string{} // the column is not null
	}
}

// applySchedule applies parameters, checks the schedule and computes its next run.
func (s *Service) applySchedule(ctx context.Context, schedule *Schedule, p ScheduleParams, now time.Time) (agents.Agent, error) {
	schedule.apply(p)
	schedule.UpdatedAt = now
	agent, err := s.Agents.Get(ctx, schedule.Ref(), schedule.AgentID)
	if err != nil {
		return agents.Agent{}, err
	}
	number, zone, err := readNumber(schedule.PhoneNumber, schedule.Timezone)
	if err != nil {
		return agents.Agent{}, err
	}
	schedule.PhoneNumber, schedule.Timezone = number.E164, zone.String()
	if err := schedule.check(zone); err != nil {
		return agents.Agent{}, err
	}
	if settings := agent.Config.Callbacks; !mayCall(settings, number) {
		return agents.Agent{}, errCountry(settings, number)
	}
	return agent, schedule.plan(p, zone, now)
}

// changeRuns reports whether parameters change when a schedule runs.
func (p ScheduleParams) changeRuns() bool {
	return p.Cron != nil || p.Timezone != nil || p.StartsAt != nil || p.EndsAt != nil || p.Exceptions != nil || p.Enabled != nil
}

// plan computes the next run. Changes of other things leave it as it is: it may have been moved, or
// be due already.
func (s *Schedule) plan(p ScheduleParams, zone *time.Location, now time.Time) error {
	if s.RunAt.IsZero() || p.changeRuns() {
		s.RunAt = s.next(now)
		s.DueAt = s.RunAt
	}
	if s.RunAt.IsZero() && (s.Enabled || p.RunAt != nil) {
		return fault.InvalidField("cron", "never", "The schedule never runs: look at cron, ends_at and exceptions.")
	}
	if p.RunAt == nil {
		return nil
	}
	at, err := readTime(*p.RunAt, 0, zone, now)
	if err != nil {
		return err
	}
	if after := s.next(s.RunAt); !after.IsZero() && !at.Before(after) {
		return fault.InvalidField("at", "range", "The next run can be moved to a time before the one behind it, %s.",
			after.In(zone).Format(time.RFC3339))
	}
	s.DueAt = at
	return nil
}

// check refuses what a schedule cannot be.
func (s Schedule) check(zone *time.Location) error {
	var wrong violations
	wrong.add("", checkTexts(s.UserID, s.Reason))
	wrong.add("", sessions.CheckVariables(s.DynamicVariables))
	wrong.add("", checkSecrets(s.DynamicVariables))
	if _, err := localtime.ParseCron(s.Cron, zone); err != nil {
		wrong.add("", fault.InvalidField("cron", "cron",
			"%s. Give minute, hour, day of the month, month and day of the week, e.g. 0 9 * * MON-FRI.", err))
	}
	if !s.EndsAt.IsZero() && !s.EndsAt.After(s.StartsAt) {
		wrong.add("", fault.InvalidField("ends_at", "range", "ends_at must be after starts_at."))
	}
	for i, day := range s.Exceptions {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			wrong.add("", fault.InvalidField("exceptions["+strconv.Itoa(i)+"]", "date", "%q is no day, YYYY-MM-DD.", day))
		}
	}
	return wrong.err()
}

// GetSchedule returns a schedule. Errors: NotFound.
func (s *Service) GetSchedule(ctx context.Context, ref workspaces.Ref, id ScheduleID) (Schedule, error) {
	return findSchedule(ctx, s.DB, ref, id, "")
}

// ListSchedules lists schedules, newest first, and returns the token of the next page. agentID and
// userID narrow the list unless they are empty.
func (s *Service) ListSchedules(
	ctx context.Context, ref workspaces.Ref, page postgres.PageParams, agentID, userID string,
) ([]Schedule, string, error) {
	page.Order = postgres.NewestFirst
	page.Filters = []string{string(ref.TenantID), string(ref.ID), agentID, userID}
	var schedules []Schedule
	query := s.DB.NewSelect().Model(&schedules).Where("sch.tenant_id = ?", ref.TenantID).Where("sch.workspace_id = ?", ref.ID)
	if agentID != "" {
		query.Where("sch.agent_id = ?", agentID)
	}
	if userID != "" {
		query.Where("sch.user_id = ?", userID)
	}
	return postgres.List(ctx, page, query, &schedules, func(s Schedule) postgres.Key {
		return postgres.Key{CreatedAt: s.CreatedAt, ID: string(s.ID)}
	})
}

// UpdateSchedule changes a schedule. Callbacks that were made of it stay, but for those that are
// scheduled when it is turned off. Errors: NotFound, as of CreateSchedule.
func (s *Service) UpdateSchedule(ctx context.Context, ref workspaces.Ref, id ScheduleID, p ScheduleParams) (Schedule, error) {
	now := s.now()
	var after Schedule
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		schedule, err := findScheduleOf(ctx, tx, ref, id, p.Owner)
		if err != nil {
			return err
		}
		if _, err := s.applySchedule(ctx, &schedule, p, now); err != nil {
			return err
		}
		after = schedule
		if !schedule.Enabled {
			if err := s.cancelScheduled(ctx, tx, ref, "schedule_id", string(id), now); err != nil {
				return err
			}
		}
		return updateSchedule(ctx, tx, schedule)
	})
	return after, err
}

// DeleteSchedule removes a schedule, and cancels its callbacks that are scheduled. Errors:
// NotFound.
func (s *Service) DeleteSchedule(ctx context.Context, ref workspaces.Ref, id ScheduleID) error {
	now := s.now()
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		schedule, err := findSchedule(ctx, tx, ref, id, "UPDATE")
		if fault.IsReason(err, fault.ResourceNotFound) {
			return s.Workspaces.Gone(ctx, tx, ref.TenantID, "schedule", string(id))
		}
		if err != nil {
			return err
		}
		if err := s.cancelScheduled(ctx, tx, ref, "schedule_id", string(id), now); err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*Schedule)(nil)).Where("tenant_id = ?", ref.TenantID).Where("id = ?", schedule.ID).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete a schedule: %w", err)
		}
		return s.Workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
	})
}
