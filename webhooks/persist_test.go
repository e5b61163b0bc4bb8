package webhooks_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/webhooks"
)

// shortRecordTimeout is long enough for the statement to wait for the lock on a busy machine.
func shortRecordTimeout(d *webhooks.Deps) { d.Policy.RecordTimeout = 1500 * time.Millisecond }

// blocked is a task whose answer was received and cannot be recorded.
type blocked struct {
	*fixture
	hook     *receiver.Receiver
	endpoint webhooks.Endpoint
	// ended gets the task's error.
	ended  chan error
	unlock func()
}

// block begins a task under ctx and locks the endpoint while it answers.
func block(ctx context.Context, t *testing.T, answer receiver.Answer) blocked {
	t.Helper()
	b := blocked{fixture: newFixture(t, shortRecordTimeout), hook: receiver.New(t), ended: make(chan error, 1)}
	hold := make(chan struct{})
	answer.Hold = hold
	b.hook.Always(answer)
	b.endpoint = b.fixture.endpoint(b.ref, b.hook, "kb.source_ingested")
	b.append(b.ref, events.KBSourceIngested)
	batch := webhooks.Batches(b.relay())[0]
	go func() {
		_, err := b.hooks.Deliver(ctx, batch)
		b.ended <- err
	}()
	b.hook.Await(t.Context(), t, 1)
	b.unlock = b.lock(b.endpoint.ID)
	close(hold)
	return b
}

// lock locks an endpoint until unlock, or the end of the test.
func (f *fixture) lock(id webhooks.EndpointID) (unlock func()) {
	f.t.Helper()
	tx, err := f.db.BeginTx(f.t.Context(), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	unlock = func() { _ = tx.Rollback() } // nothing was changed; twice is harmless
	f.t.Cleanup(unlock)
	_, err = tx.ExecContext(f.t.Context(), "SELECT FROM webhook_endpoints WHERE tenant_id = ? AND id = ? FOR UPDATE", f.ref.TenantID, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return unlock
}

// TestResultsOutliveALock shows that an answer is recorded when the endpoint's lock is released,
// and that no worker sends the event again meanwhile.
func TestResultsOutliveALock(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer receiver.Answer
		want   webhooks.AttemptStatus
	}{
		"Success": {want: webhooks.AttemptSucceeded},
		"Failure": {answer: receiver.Answer{Status: http.StatusInternalServerError}, want: webhooks.AttemptFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := block(t.Context(), t, row.answer)
			b.clock.advance(time.Hour) // the lease that the task began with is over
			harness.Await(t, harness.Patience, "the claim is renewed", func() bool {
				return b.number("SELECT count(*) FROM webhook_deliveries WHERE lease_until > ?", b.clock.now()) == 1
			})
			if n := b.sweep(); n != 0 {
				t.Errorf("%d more attempts beside the lock", n)
			}
			b.unlock()
			if err := <-b.ended; err != nil {
				t.Errorf("deliver: %v", err)
			}
			got := b.attempts(b.endpoint.ID)
			if len(got) != 1 || got[0].Status != row.want || len(b.hook.Requests()) != 1 {
				t.Errorf("%d requests, attempts %+v", len(b.hook.Requests()), got)
			}
		})
	}
}

// TestRecordingEndsWithTheTask shows that a worker that stops does not wait for the lock; the
// attempt becomes unknown when its lease expires.
func TestRecordingEndsWithTheTask(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := block(ctx, t, receiver.Answer{})
	b.clock.advance(time.Hour)
	harness.Await(t, harness.Patience, "a try has failed", func() bool {
		return b.number("SELECT count(*) FROM webhook_deliveries WHERE lease_until > ?", b.clock.now()) == 1
	})
	cancel()
	if err := <-b.ended; err == nil {
		t.Error("Deliver succeeded without a recorded result")
	}
	// Postgres hears a moment later that nobody waits for the last try any more, or never, if it
	// had not begun by then; it would write it down.
	harness.Await(t, harness.Patience, "no statement waits for the lock", func() bool {
		waiting := b.number("SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
		if waiting != 0 {
			b.number("SELECT count(*) FROM pg_terminate_backend(?)", waiting)
		}
		return waiting == 0
	})
	b.unlock()
	if got := b.attempts(b.endpoint.ID); len(got) != 0 {
		t.Errorf("attempts %+v although no answer was recorded", got)
	}
	b.clock.advance(time.Hour)
	if n := b.sweep(); n != 1 {
		t.Errorf("%d attempts after the lease, want 1", n)
	}
	if got := b.attempts(b.endpoint.ID); len(got) != 2 || got[0].Status != webhooks.AttemptUnknown || got[1].Number != 2 {
		t.Errorf("attempts %+v", got)
	}
}

// TestRecordingBesideATaskThatEnds shows that the results of a task are recorded although another
// one, whose results of the same endpoint came at the same moment, ends before.
func TestRecordingBesideATaskThatEnds(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, shortRecordTimeout), receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	const each = 16 // so many that some results of both come together
	hold := make(chan struct{})
	r.Always(receiver.Answer{Hold: hold})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	f.happen(each)
	batch := webhooks.Batches(f.relay())[0]
	ended := make(chan error, 1)
	go func() {
		_, err := f.hooks.Deliver(ctx, batch)
		ended <- err
	}()
	r.Await(t.Context(), t, each)
	f.happen(each)
	wait := f.begin(webhooks.Batches(f.relay())[0])
	r.Await(t.Context(), t, 2*each)
	unlock := f.lock(endpoint.ID)
	close(hold)
	f.clock.advance(time.Hour)
	harness.Await(t, harness.Patience, "the claims are renewed", func() bool {
		return f.number("SELECT count(*) FROM webhook_deliveries WHERE lease_until > ?", f.clock.now()) == 2*each
	})
	end()
	if err := <-ended; err == nil {
		t.Error("Deliver succeeded without a recorded result")
	}
	unlock()
	wait()
}

// TestLateResult shows that a failure that is recorded late does not undo a Redeliver, and that a
// late success ends it.
func TestLateResult(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status, sent int
		want         []webhooks.AttemptStatus
	}{
		"Failure": {404, 1, []webhooks.AttemptStatus{webhooks.AttemptFailed, webhooks.AttemptFailed, webhooks.AttemptSucceeded}},
		"Success": {200, 0, []webhooks.AttemptStatus{webhooks.AttemptFailed, webhooks.AttemptSucceeded, webhooks.AttemptUnknown}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, r := newFixture(t), receiver.New(t)
			endpoint := f.endpoint(f.ref, r, "fatigue.alert")
			r.Expect() // times are not the receiver's
			hold := make(chan struct{})
			r.Script(receiver.Answer{Status: 500}, receiver.Answer{Status: row.status, Hold: hold})
			f.append(f.ref, events.FatigueAlert)
			f.deliver(f.relay())
			f.clock.advance(time.Minute)
			due, err := f.hooks.Due(t.Context(), f.clock.now(), fair.Ask{Room: 10})
			if err != nil {
				t.Fatal(err)
			}
			wait := f.begin(webhooks.Batches(due)[0])
			r.Await(t.Context(), t, 2)
			f.clock.advance(time.Hour) // the lease is over
			asked, err := f.hooks.Redeliver(t.Context(), f.ref, endpoint.ID, f.attempts(endpoint.ID)[0].ID)
			if err != nil || asked.Number != 3 {
				t.Fatalf("redeliver: %+v, %v", asked, err)
			}
			if got := f.attempts(endpoint.ID); len(got) != 3 || got[1].Status != webhooks.AttemptUnknown {
				t.Errorf("attempts after Redeliver: %+v", got)
			}
			close(hold)
			wait()
			if n := f.sweep(); n != row.sent {
				t.Errorf("the event was sent %d times again, want %d", n, row.sent)
			}
			var got []webhooks.AttemptStatus
			for _, attempt := range f.attempts(endpoint.ID) {
				got = append(got, attempt.Status)
			}
			if diff := cmp.Diff(got, row.want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUncountedAttempts shows that attempts that are lost with their worker, and those that
// Redeliver asked for, do not use up the schedule.
func TestUncountedAttempts(t *testing.T) {
	t.Parallel()
	failure := receiver.Answer{Status: http.StatusServiceUnavailable}
	type order struct {
		*fixture
		hook     *receiver.Receiver
		endpoint webhooks.EndpointID
	}
	lose := func(o order) {
		o.hook.Script(receiver.Answer{Hold: make(chan struct{})})
		due, err := o.hooks.Due(t.Context(), o.clock.now(), fair.Ask{Room: 10})
		if err != nil || len(due) != 1 {
			o.t.Fatalf("%d deliveries are due, %v", len(due), err)
		}
		dying, die := context.WithCancel(t.Context())
		defer die()
		ended := make(chan struct{})
		before := len(o.hook.Requests())
		go func() {
			defer close(ended)
			_, _ = o.hooks.Deliver(dying, webhooks.Batches(due)[0]) // its worker dies
		}()
		o.hook.Await(t.Context(), o.t, before+1)
		die()
		<-ended
		o.clock.advance(time.Minute) // the lease is over
	}
	ask := func(o order) {
		attempts := o.attempts(o.endpoint)
		if _, err := o.hooks.Redeliver(t.Context(), o.ref, o.endpoint, attempts[len(attempts)-1].ID); err != nil {
			o.t.Fatal(err)
		}
	}
	fail := func(o order) {
		if n := o.sweep(); n != 1 {
			o.t.Fatalf("%d attempts, want 1", n)
		}
	}
	for name, row := range map[string]struct {
		steps []func(order)
		// counted are the attempts of the schedule among the steps.
		counted int
	}{
		"Lost":         {[]func(order){lose, lose, lose, lose, lose}, 0},
		"Asked":        {[]func(order){fail, ask, fail, ask, fail, ask, fail}, 1},
		"AskedAndLost": {[]func(order){fail, ask, lose, fail}, 2},
		"LostAndAsked": {[]func(order){fail, func(o order) { o.clock.advance(time.Minute) }, lose, ask, fail}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := order{fixture: newFixture(t), hook: receiver.New(t)}
			o.endpoint = o.fixture.endpoint(o.ref, o.hook, "fatigue.alert").ID
			o.hook.Expect() // times are not the receiver's
			o.hook.Always(failure)
			o.happen(1)
			o.relay()
			o.clock.advance(time.Minute) // its task is lost
			for _, step := range row.steps {
				step(o)
			}
			for i, pause := range pauses[row.counted:] {
				o.clock.advance(pause - time.Millisecond)
				if row.counted+i > 0 && o.sweep() != 0 {
					t.Errorf("attempt %d of the schedule was made too early", row.counted+i+1)
				}
				o.clock.advance(time.Millisecond)
				fail(o)
			}
			o.clock.advance(time.Hour)
			if n := o.sweep(); n != 0 {
				t.Errorf("%d attempts after the schedule", n)
			}
		})
	}
}
