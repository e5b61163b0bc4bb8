package insights_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/insights"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// insertSession makes a session of the agent ?3 that was created at ?4, and has failed at ?5 unless
// that is null.
const insertSession = `
INSERT INTO sessions (id, tenant_id, workspace_id, agent_id, agent_version, user_id, modality, status, config, overrides,
    voice_stack_override, dynamic_variables, variables_hash, token_expires_at, max_duration_seconds, idle_timeout_seconds, created_at,
    last_activity_at, ended_at)
VALUES ('ses_' || md5(?0 || ?4 || random()), ?0, ?1, ?3, 1, 'u', 'text', CASE WHEN ?5::text IS NULL THEN 'pending' ELSE 'failed' END,
    '{}', '{}', '{}', '{}', '', ?4, 3600, 60, ?4, ?4, ?5::timestamptz)`

// TestSteps: steps begin in the zone at full hours and at midnights, whatever clocks do, and every
// step is there.
func TestSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.now = time.Date(2026, 10, 26, 12, 30, 0, 0, time.UTC)
	for _, row := range []struct {
		zone, since, until string
		step               insights.Step
		want               []string
	}{
		{"UTC", "2026-10-26T10:20:00Z", "2026-10-26T12:00:00Z", insights.Hour, []string{"2026-10-26T10:00:00Z", "2026-10-26T11:00:00Z"}},
		{"UTC", "2026-10-26T10:59:00Z", "2026-10-26T11:00:01Z", insights.Hour, []string{"2026-10-26T10:00:00Z", "2026-10-26T11:00:00Z"}},
		{"Asia/Kolkata", "2026-10-26T10:20:00Z", "2026-10-26T10:40:00Z", insights.Hour, []string{"2026-10-26T09:30:00Z", "2026-10-26T10:30:00Z"}},
		// A day of 25 hours, whose hour from 2 to 3 o'clock comes twice.
		{
			"Europe/Berlin", "2026-10-24T00:00:00+02:00", "2026-10-26T12:00:00Z", insights.Day,
			[]string{"2026-10-24T00:00:00+02:00", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		},
		{"Europe/Berlin", "2026-10-25T01:30:00+02:00", "2026-10-25T03:00:00+01:00", insights.Hour, []string{
			"2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00",
		}},
		// A midnight that comes twice: the day begins with the first. One that does not exist: the day
		// begins with the change.
		{
			"America/Havana", "2026-10-31T12:00:00-04:00", "2026-11-01T12:00:00-05:00", insights.Day,
			[]string{"2026-10-31T00:00:00-04:00", "2026-11-01T00:00:00-04:00"},
		},
		{
			"America/Santiago", "2026-09-05T12:00:00-04:00", "2026-09-07T00:00:00-03:00", insights.Day,
			[]string{"2026-09-05T00:00:00-04:00", "2026-09-06T01:00:00-03:00"},
		},
	} {
		f.setZone(t, row.zone)
		got := f.activity(t, insights.ActivityParams{Since: moment(t, row.since), Until: moment(t, row.until), Step: row.step})
		var want []time.Time
		for _, text := range row.want {
			want = append(want, moment(t, text).UTC())
		}
		var begins []time.Time
		for _, step := range got.Steps {
			begins = append(begins, step.StartsAt)
		}
		if diff := cmp.Diff(want, begins); diff != "" || got.Timezone != row.zone || got.Step != row.step {
			t.Errorf("%s, %s, %s (-want +got):\n%s", row.zone, row.since, row.step, diff)
		}
	}
}

// TestDaysOfClockChange: what happens in the last hour of a day of 25 and of 23 hours is counted in
// that day, from sums by day and from rows with a time.
func TestDaysOfClockChange(t *testing.T) {
	t.Parallel()
	for since, late := range map[string]string{
		"2026-10-24T12:00:00Z": "2026-10-25T23:45:00+01:00", "2026-03-28T12:00:00Z": "2026-03-29T23:45:00+02:00",
	} {
		f := newFixture(t)
		f.setZone(t, "Europe/Berlin")
		at := moment(t, late)
		f.now = at.Add(36 * time.Hour)
		f.exec(t, f.ref, insertSession, "agt_a", at, nil)
		f.exec(t, f.ref, insertSession, "agt_a", at.Add(30*time.Minute), nil)
		f.fold(t, f.ref, "agt_a", at, usage.Record{Source: "a", Meter: usage.Turns, Quantity: 3})
		f.fold(t, f.ref, "agt_a", at.Add(30*time.Minute), usage.Record{Source: "b", Meter: usage.Turns, Quantity: 5})
		for _, zone := range []string{"", "Europe/Rome"} { // from usage by day, and from records
			got := f.activity(t, insights.ActivityParams{Since: moment(t, since), Until: f.now, Step: insights.Day, Timezone: zone})
			var days []string
			for _, step := range got.Steps {
				days = append(days, fmt.Sprint(step.Sessions, " ", step.Turns))
			}
			if diff := cmp.Diff([]string{"0 0", "1 3", "1 5", "0 0"}, days); diff != "" {
				t.Errorf("%s in zone %q (-want +got):\n%s", late, zone, diff)
			}
		}
	}
}

// TestAgreesWithUsage: turns, tokens, cost, minutes, calls and deliveries of a month are those of
// its usage, by day and by hour, of all and of one agent.
func TestAgreesWithUsage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setZone(t, "America/New_York")
	first := moment(t, "2026-11-01T00:00:00-04:00")
	for i := range 60 { // some before the month begins, some at its first moments, across a change of clocks
		at, agent := first.Add(time.Duration(i-5)*6*time.Hour), fmt.Sprintf("agt_%d", i%3)
		f.fold(t, f.ref, agent, at,
			usage.Record{Source: fmt.Sprint(i), Meter: usage.Turns, Quantity: 1},
			usage.Record{Source: fmt.Sprint(i), Meter: usage.InputTokens, Model: "m", Quantity: int64(i), Cost: "0.0000000001"},
			usage.Record{Source: fmt.Sprint(i), Meter: usage.OutputTokens, Model: "m", Quantity: 2, Cost: "0.3"},
			usage.Record{Source: fmt.Sprint(i), Meter: usage.ToolCalls, Quantity: 2},
			usage.Record{Source: fmt.Sprint(i), Meter: usage.Deliveries, Quantity: 7},
			usage.Record{Source: fmt.Sprint(i), Meter: usage.VoiceMinutes, Quantity: 4},
			usage.Record{Source: fmt.Sprint(i), Meter: usage.KBBytes, Quantity: 1000},
			usage.Record{Source: fmt.Sprint(i), Meter: usage.SpeechSeconds, Quantity: 50})
		f.fold(t, f.other, agent, at, usage.Record{Source: fmt.Sprint(i), Meter: usage.Turns, Quantity: 100})
	}
	late := usage.Record{Source: "late", Meter: usage.Turns, Quantity: 1000} // it is not summed yet
	if err := usage.Add(t.Context(), f.db, usage.Place{Workspace: f.ref, AgentID: "agt_1", At: f.now.Add(-time.Hour)}, late); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"", "agt_1"} {
		month, err := f.usage.Month(t.Context(), f.ref.TenantID, "2026-11", usage.Filter{AgentID: agent})
		if err != nil {
			t.Fatal(err)
		}
		used := map[usage.Meter]int64{}
		for _, sum := range month.Sums {
			used[sum.Meter] = sum.Quantity
		}
		want := insights.Counts{
			Turns: used[usage.Turns], Tokens: used[usage.Tokens], Cost: month.Cost(), ToolCalls: used[usage.ToolCalls],
			Deliveries: used[usage.Deliveries], VoiceMinutes: used[usage.VoiceMinutes],
		}
		if want.Turns == 0 || want.Turns == 60 {
			t.Fatalf("the month has %d turns", want.Turns)
		}
		for _, p := range []insights.ActivityParams{{Step: insights.Day}, {Step: insights.Hour}, {Step: insights.Hour, Timezone: "Asia/Tokyo"}} {
			p.Since, p.Until, p.AgentID = month.Begins, f.now, agent
			got := f.activity(t, p)
			if diff := cmp.Diff(want, got.Total.Counts); diff != "" {
				t.Errorf("agent %q by %s (-usage +activity):\n%s", agent, p.Step, diff)
			}
			sum := insights.Counts{}
			for _, step := range got.Steps {
				sum.Turns += step.Turns
				sum.Tokens += step.Tokens
				sum.Cost = usage.SumCosts(sum.Cost, step.Cost)
			}
			if sum.Turns != want.Turns || sum.Tokens != want.Tokens || sum.Cost != want.Cost {
				t.Errorf("agent %q by %s: the steps have %+v, want %+v", agent, p.Step, sum, want)
			}
		}
	}
}

// TestCountsOfRows: sessions are counted by when they were created, failures by when they happened,
// and those of another workspace, agent or tenant only where they are asked for.
func TestCountsOfRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.tenancy.CreateWorkspace(t.Context(), f.caller, "second")
	if err != nil {
		t.Fatal(err)
	}
	second := workspaces.Ref{TenantID: f.ref.TenantID, ID: made.ID}
	day := func(n int) time.Time { return f.now.AddDate(0, 0, n) }
	f.exec(t, f.ref, insertSession, "agt_a", day(-1), day(0))
	f.exec(t, f.ref, insertSession, "agt_b", day(0), nil)
	f.exec(t, second, insertSession, "agt_c", day(0), nil)
	f.exec(t, f.other, insertSession, "agt_a", day(0), day(0))
	for _, row := range []struct {
		params insights.ActivityParams
		want   []string
	}{
		{insights.ActivityParams{}, []string{"1 0", "2 1"}},
		{insights.ActivityParams{WorkspaceID: f.ref.ID}, []string{"1 0", "1 1"}},
		{insights.ActivityParams{WorkspaceID: second.ID}, []string{"0 0", "1 0"}},
		{insights.ActivityParams{AgentID: "agt_a"}, []string{"1 0", "0 1"}},
		{insights.ActivityParams{AgentID: "agt_none"}, []string{"0 0", "0 0"}},
	} {
		row.params.Since, row.params.Step = day(-1), insights.Day
		var got []string
		for _, step := range f.activity(t, row.params).Steps {
			got = append(got, fmt.Sprint(step.Sessions, " ", step.FailedSessions))
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", row.params, diff)
		}
	}
	restricted := f.caller
	restricted.WorkspaceID = second.ID
	if got, err := f.Activity(t.Context(), restricted, insights.ActivityParams{}); err != nil || got.Total.Sessions != 1 {
		t.Errorf("a key for one workspace: %+v, %v", got.Total, err)
	}
	_, err = f.Activity(t.Context(), restricted, insights.ActivityParams{WorkspaceID: f.ref.ID})
	refuses(t, err, fault.ResourceNotFound)
	_, err = f.Activity(t.Context(), f.caller, insights.ActivityParams{WorkspaceID: f.other.ID})
	refuses(t, err, fault.ResourceNotFound)
}

// TestDefaultsAndBounds: what is shown without a word, and what cannot be shown.
func TestDefaultsAndBounds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	got := f.activity(t, insights.ActivityParams{})
	if len(got.Steps) != 8 || got.Step != insights.Day || got.Total.Cost != "0" || got.Currency != "EUR" || got.Timezone != "UTC" {
		t.Errorf("without a word: %d steps, %+v", len(got.Steps), got)
	}
	if got := f.activity(t, insights.ActivityParams{Since: f.now.Add(-72 * time.Hour)}); got.Step != insights.Hour || len(got.Steps) != 73 {
		t.Errorf("three days: %d steps of a %s", len(got.Steps), got.Step)
	}
	f.Currency = ""
	if got := f.activity(t, insights.ActivityParams{}); got.Total.Cost != "" || got.Steps[0].Cost != "" {
		t.Errorf("without prices it cost %q", got.Total.Cost)
	}
	for name, p := range map[string]insights.ActivityParams{
		"order":         {Since: f.now, Until: f.now},
		"too many":      {Since: f.now.AddDate(0, 0, -42), Step: insights.Hour},
		"too old":       {Since: f.now.AddDate(0, 0, -60), Until: f.now.AddDate(0, 0, -50), Step: insights.Hour},
		"too old there": {Since: f.now.AddDate(0, 0, -60), Step: insights.Day, Timezone: "Asia/Tokyo"},
		"the zone":      {Timezone: "Mars/Olympus"},
		"this machine":  {Timezone: "Local"},
		"the year":      {Since: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Hour)},
		"the last year": {Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.Activity(t.Context(), f.caller, p)
			refuses(t, err, fault.InvalidRequest)
		})
	}
	f.activity(t, insights.ActivityParams{Since: f.now.AddDate(0, 0, -900), Step: insights.Day})
}
