package callbacks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// TestNumberOfAnother: tenants share the installation's account at the carrier, and not their
// numbers.
func TestNumberOfAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	created, err := f.workspaces.CreateTenant(t.Context(), "Other", "pro")
	if err != nil {
		t.Fatal(err)
	}
	const theirs = "+12015550177"
	_, err = f.db.NewRaw("INSERT INTO phone_numbers (id, tenant_id, workspace_id, phone_number, agent_id, lookup_secret, lookup_secret_hint, "+
		"dynamic_variables, created_at, updated_at) VALUES ('num_1', ?, ?, ?, 'agt_1', '', '', '{}', now(), now())",
		created.Tenant.ID, created.Workspace.ID, theirs).Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.agent = f.newAgent(t, agents.Config{Callbacks: agents.Callbacks{FromNumber: theirs}})
	_, err = f.Create(t.Context(), f.ref, f.params("u", "now"))
	wantReason(t, err, fault.ProviderNotConfigured)
	f.agent = f.newAgent(t, agents.Config{Callbacks: agents.Callbacks{FromNumber: "+12015550178"}})
	f.plan(t, "u", "now")
}

// sessionOf reads the session of a callback's last call.
func (f *fixture) sessionOf(t testing.TB, id callbacks.ID) sessions.Session {
	t.Helper()
	session, err := sessions.Find(t.Context(), f.db, f.ref.TenantID, f.get(t, id).SessionID, "")
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// TestSessionEndsWithCall: a session does not outlive its call, also when no media socket ends it.
func TestSessionEndsWithCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	silent, talked := f.plan(t, "u", "now"), f.plan(t, "v", "now")
	f.work(t)
	f.say(t, silent, carrier.Asked, "")
	f.say(t, silent, carrier.StatusChanged, carrier.Completed)
	if got := f.sessionOf(t, silent.ID); !got.Closed() || got.EndReason != telephony.EndNotConnected {
		t.Errorf("a session that nobody joined is %s (%s)", got.Status, got.EndReason)
	}
	f.end(t, talked)
	f.clock.advance(9 * time.Second) // its media socket writes the last words down
	f.work(t)
	if got := f.sessionOf(t, talked.ID); got.Closed() {
		t.Errorf("closed at once: %s", got.EndReason)
	}
	f.clock.advance(2 * time.Second)
	f.work(t)
	if got := f.sessionOf(t, talked.ID); !got.Closed() || got.EndReason != sessions.ReasonHangUp {
		t.Errorf("a session whose media socket is lost is %s (%s)", got.Status, got.EndReason)
	}
	if due, err := f.db.NewSelect().Table("phone_calls").Where("check_at IS NOT NULL").Count(t.Context()); due != 0 || err != nil {
		t.Errorf("%d calls are still looked at, %v", due, err)
	}
}

// awaitLocks waits until so many transactions wait for a lock. It asks in a transaction that holds
// one.
func (f *fixture) awaitLocks(ctx context.Context, n int) error {
	for waiting := 0; waiting < n; {
		err := f.db.NewRaw("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").
			Scan(ctx, &waiting)
		if err != nil {
			return err
		}
	}
	return nil
}

// TestHungUpBeforeSession: who hangs up while the session of their call is made is called again, as
// anybody who was missed, and the session ends.
func TestHungUpBeforeSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	f.work(t)
	var asked sync.WaitGroup
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewRaw("LOCK TABLE sessions IN SHARE MODE").Exec(ctx); err != nil {
			return err
		}
		asked.Go(func() { f.answer(t, made.ID) })
		if err := f.awaitLocks(ctx, 1); err != nil {
			return err
		}
		f.status(t, made.ID, carrier.Completed)
		return nil
	})
	asked.Wait()
	if err != nil {
		t.Fatal(err)
	}
	got := f.want(t, made.ID, callbacks.Scheduled, "")
	if told := f.line.rendered[len(f.line.rendered)-1]; told != (carrier.HangUp{}) {
		t.Errorf("the carrier is told %#v", told)
	}
	session, err := sessions.Find(t.Context(), f.db, f.ref.TenantID, got.Calls[0].SessionID, "")
	if err != nil || !session.Closed() || session.EndReason != telephony.EndNotConnected {
		t.Errorf("the session is %s (%s), %v", session.Status, session.EndReason, err)
	}
	f.clock.set(got.DueAt)
	f.work(t)
	f.want(t, made.ID, callbacks.Dialing, "")
}

// TestCancelCutOff: a cancellation that is cut off cancels nothing, or is hung up by another
// process.
func TestCancelCutOff(t *testing.T) {
	t.Parallel()
	for name, cutOff := range map[string]func(t *testing.T, f *fixture, made callbacks.Callback) error{
		"BeforeCall": func(t *testing.T, f *fixture, made callbacks.Callback) (canceled error) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			var canceling sync.WaitGroup
			err := postgres.InTx(t.Context(), f.db, func(ctxOfTx context.Context, tx bun.Tx) error {
				_, err := tx.NewRaw("SELECT id FROM phone_calls WHERE tenant_id = ? AND id = ? FOR UPDATE", f.ref.TenantID, made.CallID).Exec(ctxOfTx)
				if err != nil {
					return err
				}
				canceling.Go(func() { _, canceled = f.Cancel(ctx, f.ref, made.ID, "") })
				err = f.awaitLocks(ctxOfTx, 1)
				leave()
				canceling.Wait()
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return canceled
		},
		"BeforeCarrier": func(t *testing.T, f *fixture, made callbacks.Callback) error {
			calls, dying := f.node()
			calls.CarrierFunc = func(context.Context, workspaces.Ref) (carrier.Carrier, error) { return nil, errLost }
			if _, err := dying.Cancel(t.Context(), f.ref, made.ID, ""); err != nil {
				t.Fatal(err)
			}
			return errLost // the answer
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.line.statuses = map[carrier.CallID]carrier.Status{"1": carrier.InProgress}
			made := f.talking(t)
			if err := cutOff(t, f, made); err == nil {
				t.Fatal("it was not cut off")
			}
			f.work(t)
			if canceled := f.get(t, made.ID).Status.IsOver(); canceled != (len(f.line.hungUp) == 1) {
				t.Fatalf("it is canceled: %t, and hung up %v", canceled, f.line.hungUp)
			}
			if _, err := f.Cancel(t.Context(), f.ref, made.ID, ""); err != nil || len(f.line.hungUp) == 0 {
				t.Errorf("canceled again: %v, hung up %v", err, f.line.hungUp)
			}
			f.status(t, made.ID, carrier.Completed)
			got := f.want(t, made.ID, callbacks.Canceled, callbacks.EndCanceled)
			if call := got.Calls[0]; call.EndReason != telephony.EndCanceled {
				t.Errorf("the call has ended because of %s", call.EndReason)
			}
		})
	}
}

// TestZeroRetentionWithoutCall: what a callback was about that never became a call is gone too.
func TestZeroRetentionWithoutCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, agents.Config{Privacy: agents.Privacy{ZeroRetention: true}})
	canceled, failed := f.plan(t, "u", "2026-01-14T09:00"), f.plan(t, "v", "now")
	if _, err := f.Cancel(t.Context(), f.ref, canceled.ID, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.agents.Delete(t.Context(), f.ref, f.agent.ID); err != nil {
		t.Fatal(err)
	}
	f.work(t)
	f.want(t, failed.ID, callbacks.Failed, telephony.EndAgentDeleted)
	for _, id := range []callbacks.ID{canceled.ID, failed.ID} {
		if got := f.get(t, id); got.Reason != "" || len(got.DynamicVariables) != 0 {
			t.Errorf("%s: %q, %v", got.Status, got.Reason, got.DynamicVariables)
		}
	}
}

// TestZeroRetentionOfMissedRun: what a run was about that nobody made is gone too.
func TestZeroRetentionOfMissedRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, agents.Config{Privacy: agents.Privacy{ZeroRetention: true}})
	p := f.scheduleParams("0 16 * * *", "UTC")
	p.Reason, p.DynamicVariables = new("the lamp"), &map[string]string{"name": "Ada"}
	schedule, err := f.CreateSchedule(t.Context(), f.ref, p)
	if err != nil {
		t.Fatal(err)
	}
	f.clock.set(schedule.DueAt.Add(2 * time.Hour))
	f.work(t)
	runs := f.runs(t, schedule.ID)
	if len(runs) != 1 || runs[0].EndReason != callbacks.EndMissed || runs[0].Reason != "" || len(runs[0].DynamicVariables) != 0 {
		t.Errorf("%+v", runs)
	}
}

// TestZeroRetentionOfStoppedBatch: what callbacks were about whose batch is stopped is gone too.
func TestZeroRetentionOfStoppedBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, forgets := range []bool{true, false} {
		agent := f.newAgent(t, agents.Config{Privacy: agents.Privacy{ZeroRetention: forgets}})
		batch, err := f.CreateBatch(t.Context(), f.ref, callbacks.BatchParams{
			AgentID: agent.ID, Name: "n", Timezone: "America/New_York", Reason: "the lamp", Concurrency: 1,
			Recipients: []callbacks.Recipient{{PhoneNumber: "+12015550123", DynamicVariables: map[string]string{"name": "Ada"}}},
			StartsAt:   f.clock.now().Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.ControlBatch(t.Context(), f.ref, batch.ID, callbacks.ActionStop); err != nil {
			t.Fatal(err)
		}
		list, _, err := f.List(t.Context(), f.ref, callbacks.ListParams{Page: postgres.PageParams{Size: 10}, BatchID: string(batch.ID)})
		if err != nil || len(list) != 1 || list[0].Status != callbacks.Canceled {
			t.Fatalf("%+v, %v", list, err)
		}
		if empty := list[0].Reason == "" && len(list[0].DynamicVariables) == 0; empty != forgets {
			t.Errorf("zero retention %t: %q, %v", forgets, list[0].Reason, list[0].DynamicVariables)
		}
	}
}

// TestEndedAt: a call ends when it ended, and not when that became known.
func TestEndedAt(t *testing.T) {
	t.Parallel()
	// lost has the carrier know nothing of the call when the server is back.
	lost := func(t *testing.T, f *fixture, _ callbacks.Callback) {
		t.Helper()
		f.line.forgets = true
		f.clock.advance(65 * time.Second)
		f.work(t)
	}
	for name, end := range map[string]func(t *testing.T, f *fixture, made callbacks.Callback){
		"Duration": func(t *testing.T, f *fixture, made callbacks.Callback) {
			f.clock.advance(time.Hour)
			f.hook(t, made.ID, carrier.StatusChanged, map[string]string{"status": "completed", "seconds": "14"})
		},
		"Timestamp": func(t *testing.T, f *fixture, made callbacks.Callback) {
			at := f.clock.now().Add(14 * time.Second).Format(time.RFC3339)
			f.clock.advance(time.Hour)
			f.hook(t, made.ID, carrier.StatusChanged, map[string]string{"status": "completed", "at": at})
		},
		"SessionEnded": func(t *testing.T, f *fixture, made callbacks.Callback) {
			f.clock.advance(14 * time.Second)
			_, err := f.sessions.End(t.Context(), workspaces.Principal{TenantID: f.ref.TenantID}, made.SessionID,
				sessions.EndParams{Status: sessions.Completed})
			if err != nil {
				t.Fatal(err)
			}
			lost(t, f, made)
		},
		"SocketLost": func(t *testing.T, f *fixture, made callbacks.Callback) {
			f.clock.advance(14 * time.Second)
			f.join(t, made) // its heartbeat
			lost(t, f, made)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			made := f.talking(t)
			f.join(t, made)
			want := f.clock.now().Add(14 * time.Second)
			end(t, f, made)
			got := f.get(t, made.ID).Calls[0]
			if !got.EndedAt.Equal(want) || got.DurationSeconds != 14 || got.PSTNMinutes != 1 {
				t.Errorf("%s (%s): it ended at %v after %d s, which are %d minutes, want %v",
					got.Status, got.EndReason, got.EndedAt, got.DurationSeconds, got.PSTNMinutes, want)
			}
		})
	}
}
