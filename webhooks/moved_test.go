package webhooks_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

// begin starts the task of a batch and returns how to wait for its end.
func (f *fixture) begin(batch webhooks.Batch) (wait func()) {
	f.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := f.hooks.Deliver(f.t.Context(), batch)
		ended <- err
	}()
	return func() {
		f.t.Helper()
		if err := <-ended; err != nil {
			f.t.Error(err)
		}
	}
}

// move gives an endpoint the URL of another receiver.
func (f *fixture) move(id webhooks.EndpointID, to *receiver.Receiver) {
	f.t.Helper()
	to.Expect() // times are not the receiver's
	url := to.URL + "/hook"
	f.update(id, webhooks.UpdateParams{URL: &url})
}

// TestChangedDuringAnAttempt shows that the late failure of an attempt does not count for an
// endpoint that was changed or enabled meanwhile, and that a final answer of the former URL, or to
// the former headers, does not end the delivery.
func TestChangedDuringAnAttempt(t *testing.T) {
	t.Parallel()
	headers := map[string]string{"Authorization": "Bearer new"}
	for name, row := range map[string]struct {
		status int
		change func(f *fixture, id webhooks.EndpointID, moved *receiver.Receiver)
		// again and elsewhere are how many requests follow, to the former URL and to the new one.
		again, elsewhere int
	}{
		"GoneURL":     {410, (*fixture).move, 0, 1},
		"NotFoundURL": {404, (*fixture).move, 0, 1},
		"ErrorURL":    {503, (*fixture).move, 0, 1},
		"Headers": {401, func(f *fixture, id webhooks.EndpointID, _ *receiver.Receiver) {
			f.update(id, webhooks.UpdateParams{Headers: &headers})
		}, 1, 0},
		"GoneEnabled": {410, func(f *fixture, id webhooks.EndpointID, _ *receiver.Receiver) { f.enable(id, time.Time{}) }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, former, moved := newFixture(t), receiver.New(t), receiver.New(t)
			endpoint := f.endpoint(f.ref, former, "fatigue.alert")
			former.Expect()
			hold := make(chan struct{})
			former.Script(receiver.Answer{Status: row.status, Hold: hold})
			f.happen(1)
			wait := f.begin(webhooks.Batches(f.relay())[0])
			former.Await(t.Context(), t, 1)
			f.clock.advance(time.Second)
			row.change(f, endpoint.ID, moved)
			close(hold)
			wait()
			if got := f.get(endpoint.ID); got.Status != webhooks.Enabled || got.ConsecutiveFailures != 0 {
				t.Errorf("the endpoint is %s and has %d failures", got.Status, got.ConsecutiveFailures)
			}
			f.clock.advance(time.Second)
			f.sweep()
			if again, elsewhere := len(former.Requests())-1, len(moved.Requests()); again != row.again || elsewhere != row.elsewhere {
				t.Errorf("%d requests to the former URL and %d to the new one followed, want %d and %d", again, elsewhere, row.again, row.elsewhere)
			}
		})
	}
}

// TestChangedDuringABatch shows that what a task has not claimed yet is not sent to the former URL
// of its endpoint, nor while that is paused, but to the endpoint as it is now.
func TestChangedDuringABatch(t *testing.T) {
	t.Parallel()
	const first = 16 // of 20 are sent at once
	f, former, moved := newFixture(t), receiver.New(t), receiver.New(t)
	hold := make(chan struct{})
	former.Always(receiver.Answer{Hold: hold})
	endpoint := f.endpoint(f.ref, former, "fatigue.alert")
	former.Expect()
	f.happen(20)
	wait := f.begin(webhooks.Batches(f.relay())[0])
	former.Await(t.Context(), t, first)
	f.clock.advance(time.Second)
	f.move(endpoint.ID, moved)
	if err := f.setStatus(endpoint.ID, webhooks.Paused); err != nil {
		t.Fatal(err)
	}
	close(hold)
	wait()
	if n, elsewhere := len(former.Requests()), len(moved.Requests()); n != first || elsewhere != 0 {
		t.Errorf("%d requests to the former URL and %d to the paused endpoint, want %d and none", n, elsewhere, first)
	}
	f.enable(endpoint.ID, time.Time{})
	if n := f.sweep(); n != 4 || len(former.Requests()) != first || len(moved.Requests()) != 4 {
		t.Errorf("%d attempts, %d requests to the new URL, want 4", n, len(moved.Requests()))
	}
}

// TestChangedDuringAProbe shows that what waits for a probe is not sent to the former URL.
func TestChangedDuringAProbe(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *webhooks.Deps) { d.Policy.Timeout = 5 * time.Second })
	former, moved := receiver.New(t), receiver.New(t)
	endpoint := f.endpoint(f.ref, former, "fatigue.alert")
	former.Expect()
	former.Always(receiver.Answer{Hold: make(chan struct{})})
	f.happen(5)
	f.deliver(f.relay()) // five time-outs open the breaker
	hold := make(chan struct{})
	former.Always(receiver.Answer{Hold: hold})
	f.clock.advance(31 * time.Second)
	due, err := f.hooks.Due(t.Context(), f.clock.now(), fair.Ask{Room: 10})
	if err != nil || len(due) != 5 {
		t.Fatalf("%d deliveries are due, %v; want 5", len(due), err)
	}
	wait := f.begin(webhooks.Batches(due)[0])
	former.Await(t.Context(), t, 6)
	f.move(endpoint.ID, moved)
	close(hold)
	wait()
	f.sweep()
	if n, elsewhere := len(former.Requests()), len(moved.Requests()); n != 6 || elsewhere != 4 {
		t.Errorf("%d requests to the former URL and %d to the new one, want 6 and 4", n, elsewhere)
	}
}
