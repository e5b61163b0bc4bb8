package callbacks_test

import (
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// fill opens a session that takes a place of the plan until the function is called.
func (f *fixture) fill(t testing.TB) (end func()) {
	t.Helper()
	made, err := f.sessions.Create(t.Context(), workspaces.Principal{TenantID: f.ref.TenantID, WorkspaceID: f.ref.ID}, sessions.CreateParams{
		AgentID: f.agent.ID, UserID: "visitor", Modality: sessions.Text, TTLSeconds: new(int(sessions.MaxTTL.Seconds())),
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := f.sessions.RequestEnd(t.Context(), made.Session, sessions.Completed, sessions.ReasonHangUp); err != nil {
			t.Fatal(err)
		}
	}
}

// oneSession is a plan with one session at once.
var oneSession = workspaces.Plan{Name: "pro", KBStorageBytes: 1, KBUploadBytes: 1, ConcurrentSessions: 1}

// TestRoom: nobody is called whose session would have no place. A call that rings has the last one.
func TestRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.onPlan(oneSession)
	end := f.fill(t)
	first := f.plan(t, "u", "now")
	f.work(t)
	waiting := f.want(t, first.ID, callbacks.Scheduled, "")
	if f.line.calls() != 0 || waiting.WaitsFor != callbacks.WaitsSessions || waiting.DueAt.Sub(f.clock.now()) != time.Minute {
		t.Fatalf("%d calls, waiting for %q until %v", f.line.calls(), waiting.WaitsFor, waiting.DueAt)
	}
	end()
	f.clock.advance(time.Minute)
	f.work(t)
	if ringing := f.want(t, first.ID, callbacks.Dialing, ""); ringing.WaitsFor != "" {
		t.Errorf("it waits for %q", ringing.WaitsFor)
	}
	second := f.plan(t, "v", "now")
	f.work(t)
	if got := f.want(t, second.ID, callbacks.Scheduled, ""); f.line.calls() != 1 || got.WaitsFor != callbacks.WaitsSessions {
		t.Errorf("%d calls, waiting for %q", f.line.calls(), got.WaitsFor)
	}
	f.status(t, first.ID, carrier.Busy)
	f.clock.advance(time.Minute)
	f.work(t)
	f.want(t, second.ID, callbacks.Dialing, "")
}

// TestNoRoom: who has waited an hour for a place is not called any more.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.onPlan(oneSession)
	end := f.fill(t)
	made := f.plan(t, "u", "now")
	for minute := range 60 {
		if minute == 30 { // a session that nobody joins has no place for longer than an hour
			end()
			f.fill(t)
		}
		f.work(t)
		f.want(t, made.ID, callbacks.Scheduled, "")
		f.clock.advance(time.Minute)
	}
	f.work(t)
	if got := f.want(t, made.ID, callbacks.Failed, string(fault.QuotaSessions)); f.line.calls() != 0 || got.WaitsFor != "" {
		t.Errorf("%d calls, waiting for %q", f.line.calls(), got.WaitsFor)
	}
}

// TestRoomLost: when the place is taken while it rings, the call is over at once, with an apology,
// and is tried again; three times in all.
func TestRoomLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.onPlan(oneSession)
	made := f.plan(t, "u", "now")
	for attempt := 1; ; attempt++ {
		f.work(t)
		end := f.fill(t)
		f.answer(t, made.ID)
		end()
		got := f.get(t, made.ID)
		call := got.Calls[attempt-1]
		if call.Status != telephony.Failed || call.EndReason != string(fault.QuotaSessions) || !call.EndedAt.Equal(f.clock.now()) ||
			call.PSTNMinutes != 1 || call.SessionID != "" {
			t.Fatalf("attempt %d: %+v", attempt, call)
		}
		said, spoken := f.line.rendered[len(f.line.rendered)-1].(carrier.Speak)
		if !spoken || !strings.HasPrefix(said.Text, "Sorry") {
			t.Errorf("attempt %d: it is answered with %+v", attempt, f.line.rendered)
		}
		f.status(t, made.ID, carrier.Completed)
		if attempt == callbacks.MaxAttempts {
			break
		}
		f.want(t, made.ID, callbacks.Scheduled, "")
		f.clock.set(got.DueAt)
	}
	f.want(t, made.ID, callbacks.Failed, string(fault.QuotaSessions))
}

// TestAgentDeletedWhileRinging: nobody is there to talk, then or later.
func TestAgentDeletedWhileRinging(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	f.work(t)
	if err := f.agents.Delete(t.Context(), f.ref, f.agent.ID); err != nil {
		t.Fatal(err)
	}
	f.answer(t, made.ID)
	f.status(t, made.ID, carrier.Completed)
	f.want(t, made.ID, callbacks.Failed, telephony.EndAgentDeleted)
}

// TestQuotaOfMonth: a month whose minutes are used up refuses its own calls, and no later ones. Nor
// is a number called whose session the plan would refuse.
func TestQuotaOfMonth(t *testing.T) {
	t.Parallel()
	for _, meter := range []usage.Meter{usage.PSTNMinutes, usage.Turns} {
		t.Run(string(meter), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.onPlan(workspaces.Plan{
				Name: "pro", KBStorageBytes: 1, KBUploadBytes: 1, Monthly: map[string]int64{string(meter): 1},
			})
			due := f.plan(t, "u", "now")
			place := usage.Place{Workspace: f.ref, AgentID: string(f.agent.ID), At: f.clock.now()}
			if err := usage.Add(t.Context(), f.db, place, usage.Record{Source: "one", Meter: meter, Quantity: 1}); err != nil {
				t.Fatal(err)
			}
			f.clock.advance(3 * time.Second)
			if err := f.usage.Fold(t.Context(), f.clock.now()); err != nil {
				t.Fatal(err)
			}
			f.work(t)
			f.want(t, due.ID, callbacks.Failed, string(fault.QuotaUsage))
			if f.line.calls() != 0 {
				t.Errorf("%d calls", f.line.calls())
			}
			f.plan(t, "w", "2026-02-02T09:00")
			batch := callbacks.BatchParams{
				AgentID: f.agent.ID, Name: "x", Recipients: []callbacks.Recipient{{PhoneNumber: "+12015550123"}},
				StartsAt: time.Date(2026, 2, 2, 14, 0, 0, 0, time.UTC),
			}
			if _, err := f.CreateBatch(t.Context(), f.ref, batch); err != nil {
				t.Error(err)
			}
			if meter != usage.PSTNMinutes {
				return
			}
			_, err := f.Create(t.Context(), f.ref, f.params("v", "2026-01-31T09:00"))
			wantReason(t, err, fault.QuotaUsage)
			batch.StartsAt = time.Time{}
			_, err = f.CreateBatch(t.Context(), f.ref, batch)
			wantReason(t, err, fault.QuotaUsage)
		})
	}
}
