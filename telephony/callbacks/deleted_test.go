package callbacks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// deleteWorkspace deletes the fixture's workspace with all calls in it.
func (f *fixture) deleteWorkspace(t testing.TB) {
	t.Helper()
	if err := f.workspaces.DeleteWorkspace(t.Context(), workspaces.Principal{TenantID: f.ref.TenantID}, string(f.ref.ID)); err != nil {
		t.Fatal(err)
	}
}

// ask has the carrier say something of a call, and returns what it is told to do.
func (f *fixture) ask(t testing.TB, id telephony.ID, kind carrier.Kind) carrier.Instruction {
	t.Helper()
	before := len(f.line.rendered)
	_, err := f.calls.Receive(t.Context(), telephony.Hook{Carrier: f.line.Name(), CallID: id, Kind: kind, URI: "/v1/telephony/line/"})
	if err != nil || len(f.line.rendered) != before+1 {
		t.Fatalf("%s of %s: %v", kind, id, err)
	}
	return f.line.rendered[before]
}

// wantHungUp compares the calls that the carrier was told to end.
func (f *fixture) wantHungUp(t testing.TB, want ...carrier.CallID) {
	t.Helper()
	if diff := cmp.Diff(want, f.line.hungUp); diff != "" {
		t.Fatalf("hung up (-want +got)\n%s", diff)
	}
}

// TestDeletedWorkspace: calls that go on when their workspace is deleted are hung up, each once,
// and nothing of them stays.
func TestDeletedWorkspace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T, f *fixture){
		"Ringing": func(t *testing.T, f *fixture) {
			made := f.plan(t, "u", "now")
			f.work(t)
			call := f.get(t, made.ID).CallID
			f.deleteWorkspace(t)
			if got := f.ask(t, call, carrier.Asked); got != (carrier.HangUp{}) {
				t.Errorf("somebody answers: %#v", got)
			}
		},
		"WhileItIsPlaced": func(t *testing.T, f *fixture) {
			f.plan(t, "u", "now")
			f.line.onPlace = func() { f.deleteWorkspace(t) }
			f.work(t)
		},
		// The process dies before it has the carrier's answer, whose webhooks name the call.
		"LostWhileItIsPlaced": func(t *testing.T, f *fixture) {
			made := f.plan(t, "u", "now")
			f.line.losesAnswer = true
			f.work(t)
			call := f.get(t, made.ID).CallID
			f.deleteWorkspace(t)
			f.work(t)
			f.wantHungUp(t)
			f.ask(t, call, carrier.StatusChanged)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			test(t, f)
			f.work(t)
			f.work(t)
			f.wantHungUp(t, "1")
			f.clock.advance(11 * time.Minute)
			f.work(t)
			if left, err := f.db.NewSelect().Table("deleted_calls").Count(t.Context()); left != 0 || err != nil {
				t.Errorf("%d rows stay, %v", left, err)
			}
		})
	}
}

// TestEndedCallDeleted: a call that is over is not hung up when it is deleted.
func TestEndedCallDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	f.work(t)
	f.status(t, made.ID, carrier.Busy)
	f.deleteWorkspace(t)
	f.work(t)
	f.wantHungUp(t)
}

// TestUnknownCall: whoever answers a call that nobody knows is hung up on.
func TestUnknownCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if got := f.ask(t, "pcl_unknown", carrier.Asked); got != (carrier.HangUp{}) {
		t.Errorf("it is told %#v", got)
	}
}

// TestCancelUser: a call that is being placed is hung up before its row may go, also when its
// process has died and the carrier has to be asked for it.
func TestCancelUser(t *testing.T) {
	t.Parallel()
	t.Run("Placed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.plan(t, "u", "now")
		f.line.onPlace = func() { wantReason(t, f.calls.CancelUser(t.Context(), f.ref, "u"), fault.ServiceUnavailable) }
		f.work(t)
		f.wantHungUp(t, "1")
		if err := f.calls.CancelUser(t.Context(), f.ref, "u"); err != nil {
			t.Error(err)
		}
	})
	t.Run("Lost", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.plan(t, "u", "now")
		f.line.losesAnswer = true
		f.work(t)
		wantReason(t, f.calls.CancelUser(t.Context(), f.ref, "u"), fault.ServiceUnavailable)
		f.clock.advance(41 * time.Second)
		f.work(t)
		f.wantHungUp(t, "1")
		if err := f.calls.CancelUser(t.Context(), f.ref, "u"); err != nil {
			t.Error(err)
		}
	})
}

// TestErasedWhileDialed: a call that is written down while its user is erased goes with its
// callback, and is hung up.
func TestErasedWhileDialed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	var both sync.WaitGroup
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewRaw("LOCK TABLE phone_calls IN SHARE MODE").Exec(ctx); err != nil {
			return err
		}
		both.Go(func() {
			if err := f.Dial(t.Context(), f.ref, made.ID); err != nil {
				t.Error(err)
			}
		})
		if err := f.awaitLocks(ctx, 1); err != nil { // it has the callback, and no call yet
			return err
		}
		both.Go(func() {
			err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
				_, err := callbacks.EraseUserTx(ctx, tx, f.ref, "u", f.clock.now())
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		return f.awaitLocks(ctx, 2)
	})
	both.Wait()
	if err != nil {
		t.Fatal(err)
	}
	f.work(t)
	f.wantHungUp(t, "1")
	if left, _, err := f.calls.List(t.Context(), f.ref, telephony.ListParams{UserID: "u"}); len(left) != 0 || err != nil {
		t.Errorf("kept: %+v, %v", left, err)
	}
}

// TestSessionDeletedWhileDialedAgain: the deletion of the session of an attempt ends the next one.
func TestSessionDeletedWhileDialedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	f.work(t)
	f.answer(t, made.ID)
	f.hook(t, made.ID, carrier.MachineDetected, map[string]string{"machine": "1"})
	f.status(t, made.ID, carrier.Completed)
	f.clock.set(f.want(t, made.ID, callbacks.Scheduled, "").DueAt)
	f.work(t)
	again := f.want(t, made.ID, callbacks.Dialing, "")
	f.line.hungUp = nil // the machine
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := callbacks.EraseSessionsTx(ctx, tx, f.ref, []sessions.ID{again.SessionID}, f.clock.now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.work(t)
	f.wantHungUp(t, "2")
	if _, err := f.calls.Get(t.Context(), f.ref, again.CallID); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("the call is still there: %v", err)
	}
}
