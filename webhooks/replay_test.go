package webhooks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

func (f *fixture) enable(id webhooks.EndpointID, since time.Time) webhooks.EnabledEndpoint {
	f.t.Helper()
	enabled, err := f.hooks.Enable(f.t.Context(), f.ref, id, since)
	if err != nil {
		f.t.Fatal(err)
	}
	return enabled
}

// TestEnableSince shows that missed and failed events are sent in the order of the feed, each once,
// and that received ones are not sent again.
func TestEnableSince(t *testing.T) {
	t.Parallel()
	for name, ordered := range map[string]bool{"Unordered": false, "Ordered": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			r := receiver.New(t)
			f.happen(1) // before there was an endpoint
			f.relay()
			f.clock.advance(time.Second)
			begin := f.clock.now()
			endpoint := f.endpointWith(r, webhooks.CreateParams{Ordered: ordered})
			answers := []receiver.Answer{{}, {Status: 404}, {}, {Status: 410}}
			var sent []string
			for _, answer := range answers {
				r.Script(answer)
				f.clock.advance(time.Second)
				sent = append(sent, f.happen(1)...)
				f.deliver(f.relay())
			}
			if got := f.get(endpoint.ID); got.Status != webhooks.Disabled {
				t.Fatalf("the endpoint is %s", got.Status)
			}
			f.clock.advance(time.Second)
			missed := f.happen(40)
			f.append(f.ref, events.InvoicePaid) // not subscribed to
			f.relay()
			unrelayed := f.happen(2)
			before := len(r.Requests())
			if got := f.enable(endpoint.ID, begin.Add(-time.Hour)); got.Requeued != 42 || got.Status != webhooks.Enabled {
				t.Errorf("%d sent anew, the endpoint is %s; want 42, enabled", got.Requeued, got.Status)
			}
			if again := f.enable(endpoint.ID, begin); again.Requeued != 0 {
				t.Errorf("%d sent anew a second time", again.Requeued)
			}
			for f.sweep() > 0 {
			}
			f.deliver(f.relay())
			requests := r.Requests()
			inOrder(t, requests)
			want := slices.Concat([]string{sent[1], sent[3]}, missed, unrelayed)
			got := eventIDs(requests[before:])
			if !ordered { // tasks of the same endpoint run side by side
				slices.Sort(got)
				slices.Sort(want)
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error(diff)
			}
			if again := f.enable(endpoint.ID, begin); again.Requeued != 0 {
				t.Errorf("%d sent anew although all were received", again.Requeued)
			}
			made := f.number("SELECT count(*) FROM webhook_deliveries")
			if got := f.number("SELECT sum(quantity) FROM usage_records WHERE meter = 'deliveries'"); got != made {
				t.Errorf("%d deliveries are counted as usage, want %d", got, made)
			}
		})
	}
}

// TestEnableSinceRestartsTheSchedule shows that failed deliveries get all attempts again.
func TestEnableSinceRestartsTheSchedule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	begin := f.clock.now()
	endpoint := f.endpointWith(r, webhooks.CreateParams{})
	r.Always(receiver.Answer{Status: 500})
	f.happen(1)
	f.deliver(f.relay())
	exhaust := func() {
		for range 2 * len(pauses) {
			f.clock.advance(4 * time.Second)
			f.sweep()
		}
	}
	exhaust()
	f.enable(endpoint.ID, begin)
	exhaust()
	attempts := f.attempts(endpoint.ID)
	for i, attempt := range attempts {
		if attempt.Number != i+1 {
			t.Errorf("attempt %d has the number %d", i+1, attempt.Number)
		}
	}
	if got := len(attempts); got != 2*len(pauses) {
		t.Errorf("%d attempts, want %d", got, 2*len(pauses))
	}
	if got := f.enable(endpoint.ID, f.clock.now()); got.Requeued != 0 {
		t.Errorf("%d of before since were sent anew", got.Requeued)
	}
	_, err := f.hooks.Enable(t.Context(), f.ref, endpoint.ID, f.clock.now().Add(time.Second))
	wantReason(t, err, fault.InvalidRequest)
}

// TestEnableSinceIsBounded shows that a call that would send too much is refused and changes
// nothing; received events do not count.
func TestEnableSinceIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *webhooks.Deps) { d.Policy.MaxReplay = 3 })
	r := receiver.New(t)
	begin := f.clock.now()
	endpoint := f.endpointWith(r, webhooks.CreateParams{})
	f.happen(5)
	r.Script(receiver.Answer{}, receiver.Answer{}, receiver.Answer{}, receiver.Answer{}, receiver.Answer{Status: 410})
	f.deliver(f.relay())
	f.clock.advance(time.Second)
	later := f.clock.now()
	f.happen(3)
	f.relay()
	_, err := f.hooks.Enable(t.Context(), f.ref, endpoint.ID, begin)
	wantReason(t, err, fault.InvalidRequest)
	if got := f.get(endpoint.ID); got.Status != webhooks.Disabled || f.sweep() != 0 {
		t.Errorf("the endpoint is %s, want it disabled as before and nothing due", got.Status)
	}
	if got := f.enable(endpoint.ID, later); got.Requeued != 3 || got.Status != webhooks.Enabled {
		t.Errorf("%d sent anew, the endpoint is %s; want 3, enabled", got.Requeued, got.Status)
	}
}

// TestEnableSinceBesideTheRelay shows that an event relayed at the same moment is sent once.
func TestEnableSinceBesideTheRelay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	begin := f.clock.now()
	endpoint := f.endpointWith(r, webhooks.CreateParams{})
	r.Script(receiver.Answer{Status: 410})
	want := f.happen(1)
	f.deliver(f.relay())
	want = append(want, f.happen(3)...)
	done := make(chan struct{})
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		// This relay has seen the endpoint disabled, and commits while somebody enables it.
		if _, err := f.relayIn(ctx, tx); err != nil {
			return err
		}
		go func() {
			defer close(done)
			_, err := f.hooks.Enable(t.Context(), f.ref, endpoint.ID, begin)
			if err != nil {
				t.Error(err)
			}
		}()
		return f.awaitLock(ctx, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	want = append(want, f.happen(2)...)
	f.deliver(f.relay())
	for f.sweep() > 0 {
	}
	if diff := cmp.Diff(eventIDs(r.Requests()[1:]), want, sorted); diff != "" {
		t.Error(diff)
	}
}

// awaitLock waits until a session waits for a lock, or done is closed.
func (f *fixture) awaitLock(ctx context.Context, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		var waiting bool
		err := f.db.NewRaw(`
SELECT EXISTS (
    SELECT
    FROM pg_locks
    WHERE NOT granted
      AND locktype = 'advisory'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)`).Scan(ctx, &waiting)
		if waiting || err != nil {
			return err
		}
	}
}
