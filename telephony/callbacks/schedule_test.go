package callbacks_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
)

func (f *fixture) schedule(t testing.TB, cron, timezone string) callbacks.Schedule {
	t.Helper()
	schedule, err := f.CreateSchedule(t.Context(), f.ref, f.scheduleParams(cron, timezone))
	if err != nil {
		t.Fatal(err)
	}
	return schedule
}

func (f *fixture) scheduleParams(cron, timezone string) callbacks.ScheduleParams {
	return callbacks.ScheduleParams{
		AgentID: &f.agent.ID, UserID: "u " + timezone, PhoneNumber: new("+12015550123"), Cron: &cron, Timezone: &timezone,
	}
}

// runs lists the callbacks that were made of a schedule, oldest first.
func (f *fixture) runs(t testing.TB, id callbacks.ScheduleID) []callbacks.Callback {
	t.Helper()
	var all []callbacks.Callback
	token := ""
	for {
		page, next, err := f.List(t.Context(), f.ref, callbacks.ListParams{
			ScheduleID: string(id), Page: postgres.PageParams{Size: 200, Token: token},
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(page, all...)
		if token = next; token == "" {
			break
		}
	}
	// Pages are newest first.
	ordered := make([]callbacks.Callback, 0, len(all))
	seen := map[callbacks.ID]bool{}
	for _, c := range all {
		if !seen[c.ID] {
			ordered = append(ordered, c)
		}
		seen[c.ID] = true
	}
	return ordered
}

// TestYear: a year of three schedules in three zones, through both changes of the clocks, with two
// workers that sweep at once: one callback a day, at the time on the wall.
func TestYear(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.clock.set(time.Date(2025, 12, 30, 23, 0, 0, 0, time.UTC))
	end := f.clock.now().AddDate(1, 0, 3)
	gaps := map[string]string{"Europe/Berlin": "2026-03-29", "America/New_York": "2026-03-08", "Australia/Sydney": "2026-10-04"}
	schedules := map[string]callbacks.ScheduleID{}
	for zone := range gaps {
		schedules[zone] = f.schedule(t, "30 2 * * *", zone).ID
	}
	_, other := f.node()
	for f.clock.now().Before(end) {
		next := end
		for _, id := range schedules {
			schedule, err := f.GetSchedule(t.Context(), f.ref, id)
			if err != nil {
				t.Fatal(err)
			}
			if schedule.DueAt.Before(next) {
				next = schedule.DueAt
			}
		}
		f.clock.set(next.Add(20 * time.Minute))
		var both sync.WaitGroup
		for _, worker := range []*callbacks.Service{f.Service, other} {
			both.Go(func() {
				if err := worker.Sweep(t.Context(), f.clock.now()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	for zone, id := range schedules {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		days := map[string]int{}
		for _, c := range f.runs(t, id) {
			local := c.At.In(place)
			day := local.Format(time.DateOnly)
			if want := map[bool]string{true: "03:00", false: "02:30"}[day == gaps[zone]]; local.Format("15:04") != want {
				t.Errorf("%s: on %s it runs at %s, want %s", zone, day, local.Format("15:04"), want)
			}
			if c.Status != callbacks.Scheduled || c.CreatedBy != callbacks.BySchedule {
				t.Errorf("%s: the run of %s is %s, made by %s", zone, day, c.Status, c.CreatedBy)
			}
			if strings.HasPrefix(day, "2026-") {
				days[day]++
			}
		}
		if len(days) != 365 {
			t.Errorf("%s: it runs on %d days of the year", zone, len(days))
		}
		for day, n := range days {
			if n != 1 {
				t.Errorf("%s: it runs %d times on %s", zone, n, day)
			}
		}
	}
}

// TestCatchUp: runs that nobody made for over an hour are skipped, and say so.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	schedule := f.schedule(t, "0 9 * * *", "UTC") // the first run is on the 14th
	f.clock.set(time.Date(2026, 1, 17, 9, 59, 0, 0, time.UTC))
	f.work(t)
	runs := f.runs(t, schedule.ID)
	if len(runs) != 4 {
		t.Fatalf("%d runs, want 4", len(runs))
	}
	for i, day := range []int{14, 15, 16, 17} {
		run := runs[len(runs)-1-i]
		missed := day < 17
		if run.At.Day() != day || (run.EndReason == callbacks.EndMissed) != missed || (run.Status == callbacks.Failed) != missed {
			t.Errorf("run %d is of the %d., %s (%q)", i, run.At.Day(), run.Status, run.EndReason)
		}
	}
	if f.line.calls() != 1 {
		t.Errorf("%d calls, want 1", f.line.calls())
	}
	after, err := f.GetSchedule(t.Context(), f.ref, schedule.ID)
	if err != nil || after.SkippedRuns != 3 || after.LastSkippedAt.Day() != 16 || after.DueAt.Day() != 18 {
		t.Errorf("the schedule skipped %d runs, the last at %v, and is due at %v (%v)", after.SkippedRuns, after.LastSkippedAt, after.DueAt, err)
	}
}

// TestRunsCloserThanInterval: a run for which the user was called too recently does not wait for
// longer than until the next run. Quiet hours are waited for.
func TestRunsCloserThanInterval(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	schedule := f.schedule(t, "0 11-15,21 * * *", "America/New_York") // the interval is four hours
	for _, want := range []string{
		callbacks.EndAnswered, callbacks.EndMissed, callbacks.EndMissed, callbacks.EndMissed, callbacks.EndAnswered,
	} {
		f.clock.advance(time.Hour)
		f.work(t)
		run := f.runs(t, schedule.ID)[0]
		if run.Status == callbacks.Dialing {
			f.end(t, run)
		}
		if got := f.get(t, run.ID); !got.At.Equal(f.clock.now()) || got.EndReason != want {
			t.Errorf("the run of %v is %s (%q), waiting for %q, want %q", got.At, got.Status, got.EndReason, got.WaitsFor, want)
		}
	}
	f.clock.advance(6 * time.Hour)
	f.work(t)
	waiting := f.runs(t, schedule.ID)[0]
	if waiting.WaitsFor != callbacks.WaitsQuietHours {
		t.Fatalf("it waits for %q until %v", waiting.WaitsFor, waiting.DueAt)
	}
	f.clock.set(waiting.DueAt)
	f.work(t)
	f.want(t, waiting.ID, callbacks.Dialing, "")
}

// TestNextRuns: exceptions and ends are left out, and a run that is moved is made then.
func TestNextRuns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.scheduleParams("0 9 * * *", "Europe/Berlin")
	p.Exceptions, p.EndsAt = &[]string{"2026-01-15"}, new(time.Date(2026, 1, 18, 0, 0, 0, 0, time.UTC))
	schedule, err := f.CreateSchedule(t.Context(), f.ref, p)
	if err != nil {
		t.Fatal(err)
	}
	days := func(runs []time.Time) (list []string) {
		for _, at := range runs {
			list = append(list, at.UTC().Format("02 15:04"))
		}
		return list
	}
	if got := strings.Join(days(schedule.Shown()), ", "); got != "14 08:00, 16 08:00, 17 08:00" {
		t.Errorf("runs: %s", got)
	}
	moved, err := f.UpdateSchedule(t.Context(), f.ref, schedule.ID, callbacks.ScheduleParams{RunAt: new("2026-01-14T18:30")})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(days(moved.Shown()), ", "); got != "14 17:30, 16 08:00, 17 08:00" {
		t.Errorf("after it was moved: %s", got)
	}
	f.clock.set(time.Date(2026, 1, 14, 9, 0, 0, 0, time.UTC))
	f.work(t)
	if runs := f.runs(t, schedule.ID); len(runs) != 0 {
		t.Errorf("it ran at its old time: %v", runs)
	}
	f.clock.set(time.Date(2026, 1, 14, 17, 31, 0, 0, time.UTC))
	f.work(t)
	if runs := f.runs(t, schedule.ID); len(runs) != 1 {
		t.Errorf("%d runs at its new time", len(runs))
	}
	off, err := f.UpdateSchedule(t.Context(), f.ref, schedule.ID, callbacks.ScheduleParams{Enabled: new(bool)})
	if err != nil || len(off.Shown()) != 0 {
		t.Errorf("one that is off runs at %v (%v)", off.Shown(), err)
	}
}

func TestScheduleRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	only := f.newAgent(t, agents.Config{Callbacks: agents.Callbacks{Countries: []string{"DE"}}})
	for name, change := range map[string]func(*callbacks.ScheduleParams){
		"cron":                  func(p *callbacks.ScheduleParams) { p.Cron = new("every day") },
		"six fields":            func(p *callbacks.ScheduleParams) { p.Cron = new("0 0 9 * * *") },
		"a time zone":           func(p *callbacks.ScheduleParams) { p.Timezone = new("Mars/Olympus") },
		"a number":              func(p *callbacks.ScheduleParams) { p.PhoneNumber = new("0123") },
		"a country":             func(p *callbacks.ScheduleParams) { p.AgentID = &only.ID },
		"never":                 func(p *callbacks.ScheduleParams) { p.Cron = new("0 9 30 2 *") },
		"an end before":         func(p *callbacks.ScheduleParams) { p.EndsAt = new(noon.Add(-time.Hour)) },
		"a day that is none":    func(p *callbacks.ScheduleParams) { p.Exceptions = &[]string{"2026-02-30"} },
		"a secret":              func(p *callbacks.ScheduleParams) { p.DynamicVariables = &map[string]string{"secret__x": "y"} },
		"a system variable":     func(p *callbacks.ScheduleParams) { p.DynamicVariables = &map[string]string{"system__x": "y"} },
		"a user without id":     func(p *callbacks.ScheduleParams) { p.UserID = " " },
		"an agent of nobody":    func(p *callbacks.ScheduleParams) { p.AgentID = new(agents.ID("agt_x")) },
		"a reason that is long": func(p *callbacks.ScheduleParams) { p.Reason = new(strings.Repeat("x", 501)) },
	} {
		p := f.scheduleParams("0 9 * * *", "UTC")
		change(&p)
		if schedule, err := f.CreateSchedule(t.Context(), f.ref, p); err == nil {
			t.Errorf("%s: made %+v", name, schedule)
		}
	}
}

// TestScheduleKeepsItsNextRun: a change that is not about time leaves the next run where it was
// moved to, and one that is due already.
func TestScheduleKeepsItsNextRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.schedule(t, "0 14 * * *", "UTC")
	moved := made.DueAt.Add(time.Hour)
	update := func(p callbacks.ScheduleParams) callbacks.Schedule {
		t.Helper()
		schedule, err := f.UpdateSchedule(t.Context(), f.ref, made.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		return schedule
	}
	update(callbacks.ScheduleParams{RunAt: new(moved.Format(time.RFC3339))})
	if got := update(callbacks.ScheduleParams{Reason: new("another lamp")}); !got.DueAt.Equal(moved) || !got.RunAt.Equal(made.RunAt) {
		t.Errorf("after another reason it runs at %s for %s, want %s for %s", got.DueAt, got.RunAt, moved, made.RunAt)
	}
	f.clock.set(moved.Add(time.Second))
	if got := update(callbacks.ScheduleParams{Reason: new("the lamp")}); !got.DueAt.Equal(moved) {
		t.Errorf("a run that is due was lost: %s, want %s", got.DueAt, moved)
	}
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	if runs := f.runs(t, made.ID); len(runs) != 1 || !runs[0].At.Equal(moved) {
		t.Errorf("the runs are %v", runs)
	}
	if got := update(callbacks.ScheduleParams{Cron: new("0 20 * * *")}); !got.DueAt.After(moved) || got.DueAt.Hour() != 20 {
		t.Errorf("with another cron it runs at %s", got.DueAt)
	}
}

// TestScheduleThatIsOver can be turned off, and not on.
func TestScheduleThatIsOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.scheduleParams("0 14 * * *", "UTC")
	p.EndsAt = new(f.clock.now().AddDate(0, 0, 2))
	made, err := f.CreateSchedule(t.Context(), f.ref, p)
	if err != nil {
		t.Fatal(err)
	}
	f.clock.set(p.EndsAt.AddDate(0, 0, 1))
	if off, err := f.UpdateSchedule(t.Context(), f.ref, made.ID, callbacks.ScheduleParams{Enabled: new(false)}); err != nil || off.Enabled {
		t.Errorf("turned off: %+v, %v", off, err)
	}
	_, err = f.UpdateSchedule(t.Context(), f.ref, made.ID, callbacks.ScheduleParams{Enabled: new(true)})
	if got := fault.ReasonOf(err); got != fault.InvalidRequest {
		t.Errorf("turned on: %v", err)
	}
}

// TestRetryOfScheduleThatIsOff: a callback is canceled that is due again although its schedule was
// turned off or deleted. Whoever did that did not see it when the end of its call was just written.
func TestRetryOfScheduleThatIsOff(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"Off":     "UPDATE callback_schedules SET enabled = false WHERE tenant_id = ? AND id = ?",
		"Deleted": "DELETE FROM callback_schedules WHERE tenant_id = ? AND id = ?",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			schedule := f.schedule(t, "5 15 * * *", "UTC")
			f.clock.advance(6 * time.Minute)
			f.work(t)
			missed := f.runs(t, schedule.ID)[0]
			f.status(t, missed.ID, carrier.NoAnswer)
			f.want(t, missed.ID, callbacks.Scheduled, "")
			if _, err := f.db.NewRaw(statement, f.ref.TenantID, schedule.ID).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.clock.advance(time.Hour)
			f.work(t)
			f.want(t, missed.ID, callbacks.Canceled, callbacks.EndCanceled)
			if f.line.calls() != 1 {
				t.Errorf("%d calls", f.line.calls())
			}
		})
	}
}

// TestScheduleEnds: one that is turned off while its call rings calls nobody again, and one whose
// agent was deleted is turned off.
func TestScheduleEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	schedule := f.schedule(t, "5 15 * * *", "UTC")
	f.clock.advance(6 * time.Minute)
	f.work(t)
	ringing := f.runs(t, schedule.ID)[0]
	if _, err := f.UpdateSchedule(t.Context(), f.ref, schedule.ID, callbacks.ScheduleParams{Enabled: new(bool)}); err != nil {
		t.Fatal(err)
	}
	f.status(t, ringing.ID, carrier.NoAnswer)
	f.want(t, ringing.ID, callbacks.NoAnswer, telephony.EndNoAnswer)
	orphan := f.schedule(t, "20 15 * * *", "UTC")
	if err := f.agents.Delete(t.Context(), f.ref, f.agent.ID); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(20 * time.Minute)
	f.work(t)
	after, err := f.GetSchedule(t.Context(), f.ref, orphan.ID)
	if err != nil || after.Enabled || len(f.runs(t, orphan.ID)) != 0 {
		t.Errorf("enabled %v with %d runs (%v)", after.Enabled, len(f.runs(t, orphan.ID)), err)
	}
}
