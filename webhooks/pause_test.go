package webhooks_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

// TestPause shows that a paused endpoint gets nothing, and what happened meanwhile when it is
// enabled again.
func TestPause(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(f *fixture, id webhooks.EndpointID) error{
		"Enable": func(f *fixture, id webhooks.EndpointID) error {
			_, err := f.hooks.Enable(f.t.Context(), f.ref, id, time.Time{})
			return err
		},
		"Update": func(f *fixture, id webhooks.EndpointID) error { return f.setStatus(id, webhooks.Enabled) },
	} {
		for _, ordered := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f, r := newFixture(t), receiver.New(t)
				endpoint := f.endpoint(f.ref, r, "fatigue.alert")
				if _, err := f.hooks.Update(t.Context(), f.ref, endpoint.ID, webhooks.UpdateParams{Ordered: &ordered}); err != nil {
					t.Fatal(err)
				}
				r.Script(receiver.Answer{Status: 500})
				f.happen(1)
				f.deliver(f.relay())
				failed := f.attempts(endpoint.ID)[0]
				f.happen(1)
				due := f.relay()
				if err := f.setStatus(endpoint.ID, webhooks.Paused); err != nil {
					t.Fatal(err)
				}
				f.happen(2)
				due = append(due, f.relay()...)
				f.clock.advance(time.Minute)
				if n := f.deliver(due) + f.sweep() + f.sweep(); n != 0 {
					t.Errorf("%d attempts while it is paused", n)
				}
				if n := f.number("SELECT count(*) FROM webhook_deliveries WHERE next_at IS NULL"); n != 4 {
					t.Errorf("%d deliveries are held, want 4", n)
				}
				_, err := f.hooks.Redeliver(t.Context(), f.ref, endpoint.ID, failed.ID)
				wantReason(t, err, fault.Conflict)
				if err := back(f, endpoint.ID); err != nil {
					t.Fatal(err)
				}
				if n := f.sweep(); n != 4 {
					t.Errorf("%d attempts after the pause, want 4", n)
				}
				inOrder(t, r.Requests())
				if got := f.get(endpoint.ID); got.Status != webhooks.Enabled || len(r.Requests()) != 5 {
					t.Errorf("%s, %d requests, want 5", got.Status, len(r.Requests()))
				}
			})
		}
	}
}

// TestPauseOfDisabled shows that a disabled endpoint can be paused or enabled by an update, which
// forgets its failures.
func TestPauseOfDisabled(t *testing.T) {
	t.Parallel()
	for _, status := range []webhooks.Status{webhooks.Enabled, webhooks.Paused} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			f, r := newFixture(t), receiver.New(t)
			endpoint := f.endpoint(f.ref, r, "fatigue.alert")
			r.Script(receiver.Answer{Status: 410})
			f.append(f.ref, events.FatigueAlert)
			f.deliver(f.relay())
			if err := f.setStatus(endpoint.ID, status); err != nil {
				t.Fatal(err)
			}
			if got := f.get(endpoint.ID); got.Status != status || got.DisabledReason != "" || got.ConsecutiveFailures != 0 {
				t.Errorf("got %s, %q, %d failures", got.Status, got.DisabledReason, got.ConsecutiveFailures)
			}
			wantReason(t, f.setStatus(endpoint.ID, webhooks.Disabled), fault.InvalidRequest)
		})
	}
}

func (f *fixture) setStatus(id webhooks.EndpointID, status webhooks.Status) error {
	_, err := f.hooks.Update(f.t.Context(), f.ref, id, webhooks.UpdateParams{Status: &status})
	return err
}
