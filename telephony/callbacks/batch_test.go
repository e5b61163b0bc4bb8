package callbacks_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
)

func (f *fixture) batch(t testing.TB, recipients, concurrency int) callbacks.Batch {
	t.Helper()
	p := callbacks.BatchParams{
		AgentID: f.agent.ID, Name: "Reminders", Reason: "the lamp", Timezone: "America/New_York", Concurrency: concurrency,
	}
	for i := range recipients {
		p.Recipients = append(p.Recipients, callbacks.Recipient{PhoneNumber: fmt.Sprintf("+1201555%04d", i)})
	}
	batch, err := f.CreateBatch(t.Context(), f.ref, p)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

// members lists the callbacks of a batch in the order of its recipients.
func (f *fixture) members(t testing.TB, id callbacks.BatchID) []callbacks.Callback {
	t.Helper()
	list, _, err := f.List(t.Context(), f.ref, callbacks.ListParams{BatchID: string(id), Page: postgres.PageParams{Size: 200}})
	if err != nil {
		t.Fatal(err)
	}
	ordered := make([]callbacks.Callback, len(list))
	for _, c := range list {
		ordered[c.Place] = c
	}
	return ordered
}

func (f *fixture) progress(t testing.TB, id callbacks.BatchID) callbacks.Batch {
	t.Helper()
	batch, err := f.GetBatch(t.Context(), f.ref, id)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

// TestBatch: never more calls than it may have, the next one when one ends, and done at last.
func TestBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.batch(t, 7, 2)
	if made.Status != callbacks.Running || made.Progress[callbacks.Scheduled] != 7 {
		t.Fatalf("made %+v", made)
	}
	for range 3 {
		f.work(t)
		f.clock.advance(2 * time.Second)
	}
	if f.line.calls() != 2 {
		t.Fatalf("%d calls at once, want 2", f.line.calls())
	}
	for round := 0; f.progress(t, made.ID).Status == callbacks.Running; round++ {
		if round > 10 {
			t.Fatalf("it does not end: %+v", f.progress(t, made.ID))
		}
		for _, c := range f.members(t, made.ID) {
			if c.Status == callbacks.Dialing {
				f.end(t, c)
			}
		}
		f.clock.advance(2 * time.Second)
		f.work(t)
		if busy := f.progress(t, made.ID).Progress[callbacks.Dialing]; busy > 2 {
			t.Fatalf("%d calls at once", busy)
		}
	}
	done := f.progress(t, made.ID)
	if done.Status != callbacks.BatchCompleted || done.Progress[callbacks.Completed] != 7 || done.EndedAt.IsZero() || f.line.calls() != 7 {
		t.Errorf("%+v after %d calls", done, f.line.calls())
	}
	var csv strings.Builder
	if err := f.ExportBatch(t.Context(), f.ref, made.ID, &csv); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(csv.String()), "\n")
	if len(lines) != 8 || !strings.HasPrefix(lines[0], "callback_id,phone_number,") ||
		!strings.Contains(lines[3], "+12015550002,+12015550002,completed,answered,1,ses_") {
		t.Errorf("results:\n%s", csv.String())
	}
	_, err := f.ControlBatch(t.Context(), f.ref, made.ID, callbacks.ActionResume)
	wantReason(t, err, fault.CallbackBatchOver)
}

// say has the carrier say something of the first call of a callback.
func (f *fixture) say(t testing.TB, c callbacks.Callback, kind carrier.Kind, status carrier.Status) {
	t.Helper()
	call := f.get(t, c.ID).Calls[0]
	_, err := f.calls.Receive(t.Context(), telephony.Hook{Carrier: "line", CallID: call.ID, Kind: kind, URI: "/", Form: map[string][]string{
		"status": {string(status)}, "id": {string(call.CarrierCallID)}, "seconds": {"5"},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// end has the call of a callback answered, talked in, and ended.
func (f *fixture) end(t testing.TB, c callbacks.Callback) {
	t.Helper()
	f.say(t, c, carrier.Asked, "")
	_, err := f.db.NewRaw("UPDATE sessions SET started_at = now() WHERE tenant_id = ? AND id = ?", f.ref.TenantID, f.get(t, c.ID).SessionID).
		Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.say(t, c, carrier.StatusChanged, carrier.Completed)
}

// TestBatchControl: pausing begins no new calls, resuming does, stopping cancels what is left.
func TestBatchControl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.batch(t, 4, 2)
	control := func(action string) {
		t.Helper()
		for range 2 { // doing it again changes nothing
			if _, err := f.ControlBatch(t.Context(), f.ref, made.ID, action); err != nil {
				t.Fatal(err)
			}
		}
	}
	control(callbacks.ActionPause)
	f.work(t)
	if f.line.calls() != 0 || f.members(t, made.ID)[0].WaitsFor != callbacks.WaitsBatchPaused {
		t.Fatalf("%d calls, waiting for %q", f.line.calls(), f.members(t, made.ID)[0].WaitsFor)
	}
	control(callbacks.ActionResume)
	f.work(t)
	if f.line.calls() != 2 {
		t.Fatalf("%d calls after it was resumed", f.line.calls())
	}
	control(callbacks.ActionStop)
	f.clock.advance(time.Hour)
	f.work(t)
	for _, c := range f.members(t, made.ID) { // who did not answer is not called again
		if c.Status == callbacks.Dialing && c.Place == 0 {
			f.say(t, c, carrier.StatusChanged, carrier.NoAnswer)
			f.want(t, c.ID, callbacks.NoAnswer, telephony.EndNoAnswer)
		}
	}
	got := f.progress(t, made.ID)
	if got.Status != callbacks.Stopped || got.Progress[callbacks.Canceled] != 2 ||
		got.Progress[callbacks.Dialing] != 1 || f.line.calls() != 2 {
		t.Errorf("%+v after %d calls", got, f.line.calls())
	}
}

// TestBatchStoppedAsCallEnds: who was busy is not called again when the batch is stopped at the
// moment at which their call ends.
func TestBatchStoppedAsCallEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.batch(t, 1, 1)
	f.work(t)
	dialed := f.members(t, made.ID)[0]
	var both sync.WaitGroup
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw("SELECT id FROM callback_batches WHERE tenant_id = ? AND id = ? FOR UPDATE", f.ref.TenantID, made.ID).Exec(ctx)
		if err != nil {
			return err
		}
		both.Go(func() {
			if _, err := f.ControlBatch(t.Context(), f.ref, made.ID, callbacks.ActionStop); err != nil {
				t.Error(err)
			}
		})
		if err := f.awaitLocks(ctx, 1); err != nil { // it has looked for callbacks that are scheduled
			return err
		}
		both.Go(func() { f.status(t, dialed.ID, carrier.Busy) })
		return f.awaitLocks(ctx, 2)
	})
	both.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if got := f.get(t, dialed.ID); !got.Status.IsOver() {
		t.Errorf("it is %s and due at %v", got.Status, got.DueAt)
	}
	f.clock.advance(time.Hour)
	f.work(t)
	if got := f.progress(t, made.ID); f.line.calls() != 1 || got.Status != callbacks.Stopped {
		t.Errorf("%d calls, the batch is %s", f.line.calls(), got.Status)
	}
}

// erase erases a user.
func (f *fixture) erase(t testing.TB, user string) {
	t.Helper()
	var n int
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) (err error) {
		n, err = callbacks.EraseUserTx(ctx, tx, f.ref, user, f.clock.now())
		return err
	})
	if err != nil || n != 1 {
		t.Fatalf("%d callbacks were erased, %v", n, err)
	}
}

// TestBatchErased: a batch is over with its last open recipient, also when they are erased, and
// when it is paused. One that is over does not end again.
func TestBatchErased(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.batch(t, 3, 1)
	f.work(t)
	all := f.members(t, made.ID)
	f.erase(t, all[0].UserID) // while they are called
	f.work(t)
	f.want(t, all[1].ID, callbacks.Dialing, "")
	f.end(t, all[1])
	if got := f.progress(t, made.ID); got.Status != callbacks.Running {
		t.Fatalf("one is left of %+v", got)
	}
	if _, err := f.ControlBatch(t.Context(), f.ref, made.ID, callbacks.ActionPause); err != nil {
		t.Fatal(err)
	}
	f.erase(t, all[2].UserID)
	ended := f.clock.now()
	f.clock.advance(time.Hour)
	var n int
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) (err error) {
		n, err = callbacks.EraseSessionsTx(ctx, tx, f.ref, []sessions.ID{f.get(t, all[1].ID).SessionID}, f.clock.now())
		return err
	})
	got := f.progress(t, made.ID)
	if err != nil || n != 1 || got.Status != callbacks.BatchCompleted || !got.EndedAt.Equal(ended) || len(got.Progress) != 0 {
		t.Errorf("%+v, %d, %v", got, n, err)
	}
}

// TestBatchWindow: nobody is called outside of its window.
func TestBatchWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	batch, err := f.CreateBatch(t.Context(), f.ref, callbacks.BatchParams{
		AgentID: f.agent.ID, Name: "Afternoons", WindowFrom: "14:00", WindowUntil: "16:00", Timezone: "America/New_York",
		Recipients: []callbacks.Recipient{{PhoneNumber: "+12015550123", UserID: "u"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.work(t)
	waiting := f.members(t, batch.ID)[0]
	if waiting.WaitsFor != callbacks.WaitsBatchWindow || waiting.DueAt.Format(time.RFC3339) != "2026-01-13T19:00:00Z" {
		t.Errorf("it waits for %q until %v", waiting.WaitsFor, waiting.DueAt)
	}
	f.clock.set(waiting.DueAt)
	f.work(t)
	f.want(t, waiting.ID, callbacks.Dialing, "")
}

// TestBatchRefused: all or none, and every bad recipient is named.
func TestBatchRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	only := f.newAgent(t, agents.Config{Callbacks: agents.Callbacks{Countries: []string{"US"}}})
	_, err := f.CreateBatch(t.Context(), f.ref, callbacks.BatchParams{
		AgentID: only.ID, Name: "x", WindowFrom: "14:00", Recipients: []callbacks.Recipient{
			{PhoneNumber: "+12015550123"},
			{PhoneNumber: "123"},
			{PhoneNumber: "+4930123456"},
			{PhoneNumber: "+12015550124", DynamicVariables: map[string]string{"secret__x": "y"}},
			{PhoneNumber: "+12015550125", Timezone: "X"},
			{PhoneNumber: "+1 201 555 0123"}, // again
			{PhoneNumber: "+12015550123", UserID: "somebody else there"},
			{PhoneNumber: "124", UserID: " ", Timezone: "X", DynamicVariables: map[string]string{"secret__x": "y"}},
		},
	})
	wantReason(t, err, fault.InvalidRequest)
	var fields []string
	for _, field := range fault.From(err).Fields {
		fields = append(fields, field.Field)
	}
	want := "window_until, recipients[1].phone_number, recipients[2].phone_number, recipients[3].dynamic_variables, recipients[4].timezone, " +
		"recipients[5].phone_number, recipients[7].phone_number, recipients[7].timezone, recipients[7].user_id, " +
		"recipients[7].dynamic_variables"
	if got := strings.Join(fields, ", "); got != want {
		t.Errorf("fields %s, want %s", got, want)
	}
	if list, _, err := f.ListBatches(t.Context(), f.ref, postgres.PageParams{}); err != nil || len(list) != 0 {
		t.Errorf("%d batches (%v)", len(list), err)
	}
}

// TestBatchNeverCalls: recipients who have quiet hours in the whole window all the year are named.
// Los Angeles is eight hours behind Berlin, not nine, while only one of them has changed its
// clocks.
func TestBatchNeverCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	create := func(from, until string, recipients ...string) (callbacks.Batch, error) {
		p := callbacks.BatchParams{AgentID: f.agent.ID, Name: "x", WindowFrom: from, WindowUntil: until, Timezone: "Europe/Berlin"}
		for i, zone := range recipients {
			p.Recipients = append(p.Recipients, callbacks.Recipient{PhoneNumber: fmt.Sprintf("+1201555%04d", i), Timezone: zone})
		}
		return f.CreateBatch(t.Context(), f.ref, p)
	}
	_, err := create("09:00", "17:00", "America/New_York", "America/Anchorage", "", "Pacific/Honolulu", "America/Los_Angeles", "X")
	wantReason(t, err, fault.InvalidRequest)
	var fields []string
	for _, field := range fault.From(err).Fields {
		fields = append(fields, field.Field+" "+field.Code)
	}
	want := []string{"recipients[1].timezone window", "recipients[3].timezone window", "recipients[5].timezone timezone"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
	_, err = create("21:00", "08:00", "")
	wantReason(t, err, fault.InvalidRequest)
	if _, err := create("21:00", "08:01", ""); err != nil {
		t.Error(err)
	}
	made, err := create("09:00", "17:00", "America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	f.clock.set(time.Date(2026, 3, 9, 15, 30, 0, 0, time.UTC)) // 8:30 there, 16:30 in Berlin
	f.work(t)
	f.want(t, f.members(t, made.ID)[0].ID, callbacks.Dialing, "")
}

// TestBatchRefusedShort: a long list of bad recipients is cut.
func TestBatchRefusedShort(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.CreateBatch(t.Context(), f.ref, callbacks.BatchParams{
		AgentID: f.agent.ID, Name: "x", Recipients: slices.Repeat([]callbacks.Recipient{{PhoneNumber: "1", Timezone: "X"}}, 100),
	})
	wantReason(t, err, fault.InvalidRequest)
	if n := len(fault.From(err).Fields); n != 50 {
		t.Errorf("%d fields, want 50", n)
	}
}

// TestResultsCSV: what a spreadsheet would compute is marked as text; numbers are as they are.
func TestResultsCSV(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	users := map[string]string{
		"": "+12015550000", "+12015550199": "+12015550199", "=1+1": "'=1+1", "+1+1": "'+1+1", "+cmd|x!A0": "'+cmd|x!A0", "+": "'+", "-1": "'-1",
		"@x": "'@x", "\tx": "'\tx", "1+1": "1+1",
	}
	p := callbacks.BatchParams{AgentID: f.agent.ID, Name: "x"}
	var want []string
	for user, cell := range users {
		p.Recipients, want = append(p.Recipients, callbacks.Recipient{PhoneNumber: "+12015550000", UserID: user}), append(want, cell)
	}
	batch, err := f.CreateBatch(t.Context(), f.ref, p)
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := f.ExportBatch(t.Context(), f.ref, batch.ID, &file); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(file.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows[1:] {
		got = append(got, row[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("user ids (-want +got)\n%s", diff)
	}
}

// TestCalendarUID: an entry of the iCalendar file keeps its name when a run becomes a callback, and
// when either is moved.
func TestCalendarUID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	schedule := f.schedule(t, "0 9 * * THU", "UTC") // the first run is on the 15th
	uid := "UID:" + string(schedule.ID) + "-20260115T090000Z@parlance\r\n"
	want := func(when, start string) {
		t.Helper()
		var file strings.Builder
		if err := f.ExportCalendar(t.Context(), f.ref, callbacks.Span{From: noon, Until: noon.AddDate(0, 0, 7)}, &file); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		if strings.Count(text, "UID:") != 1 || !strings.Contains(text, uid) || !strings.Contains(text, "DTSTART:"+start+"\r\n") {
			t.Errorf("%s it is not %q at %s:\n%s", when, uid, start, text)
		}
	}
	want("as a run", "20260115T090000Z")
	_, err := f.UpdateSchedule(t.Context(), f.ref, schedule.ID, callbacks.ScheduleParams{RunAt: new("2026-01-15T13:30")})
	if err != nil {
		t.Fatal(err)
	}
	want("as a run that was moved", "20260115T133000Z")
	f.clock.set(time.Date(2026, 1, 15, 13, 30, 0, 0, time.UTC))
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	want("as a callback", "20260115T133000Z")
	_, err = f.Update(t.Context(), f.ref, f.runs(t, schedule.ID)[0].ID, callbacks.UpdateParams{At: new("2026-01-15T15:00")})
	if err != nil {
		t.Fatal(err)
	}
	want("as a callback that was moved", "20260115T150000Z")
}

// TestCalendar: callbacks and the runs to come, in the order of time, also as iCalendar.
func TestCalendar(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.plan(t, "u; with, signs\n", "2026-01-15T09:00")
	f.schedule(t, "0 9 * * THU", "UTC")
	entries, more, err := f.Calendar(t.Context(), f.ref, callbacks.Span{
		From: noon, Until: time.Date(2026, 1, 23, 0, 0, 0, 0, time.UTC),
	})
	if err != nil || more || len(entries) != 3 {
		t.Fatalf("%+v, %v", entries, err)
	}
	for i, want := range []string{"15 09:00 run", "15 14:00 callback", "22 09:00 run"} {
		kind := "run"
		if entries[i].CallbackID != "" {
			kind = "callback"
		}
		if got := entries[i].At.UTC().Format("02 15:04 ") + kind; got != want {
			t.Errorf("entry %d is %s, want %s", i, got, want)
		}
	}
	var file strings.Builder
	if err := f.ExportCalendar(t.Context(), f.ref, callbacks.Span{}, &file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	for _, want := range []string{
		"BEGIN:VCALENDAR\r\n", "DTSTART:20260115T140000Z\r\n", `u\; with\, signs`, "END:VCALENDAR\r\n", "METHOD:PUBLISH",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
	_, _, err = f.Calendar(t.Context(), f.ref, callbacks.Span{From: noon, Until: noon.AddDate(1, 0, 0)})
	wantReason(t, err, fault.InvalidRequest)
}
