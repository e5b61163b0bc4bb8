package webhooks_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

const (
	underLease = "SELECT count(*) FROM webhook_deliveries WHERE lease_until IS NOT NULL AND attempt = 1"
	untouched  = "SELECT count(*) FROM webhook_deliveries WHERE lease_until IS NULL AND attempt = 0 AND status = 'pending'"
)

// TestBegun: what is claimed as it is made is sent by its task, once, as the first attempt.
func TestBegun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r, second := receiver.New(t), receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	f.endpoint(f.ref, second, "fatigue.alert")
	ids := map[string]bool{}
	for range 40 {
		ids[f.append(f.ref, events.FatigueAlert)] = true
	}
	// Both endpoints have two batches; there is room to begin three, and for none beside them.
	made := f.fanOut(webhooks.Room{Begin: 3, Tasks: 3})
	if got := f.number(underLease); got != 72 || len(made.Due) != 72 || made.Left != 8 {
		t.Fatalf("%d claimed, %d due and %d left, want 72, 72 and 8", got, len(made.Due), made.Left)
	}
	if f.sweep() != 8 {
		t.Error("what was left was not offered, or what was claimed was")
	}
	f.hooks.Begin(made)
	if got := f.deliver(made.Due); got != 72 {
		t.Errorf("%d attempts, want 72", got)
	}
	if got := f.deliver(made.Due); got != 0 {
		t.Errorf("%d attempts by a repeated task", got)
	}
	for _, hook := range []*receiver.Receiver{r, second} {
		inOrder(t, hook.Requests())
		seen := map[string]bool{}
		for _, request := range hook.Requests() {
			seen[request.EventID] = ids[request.EventID]
		}
		if len(seen) != 40 || len(hook.Requests()) != 40 {
			t.Errorf("%d requests of %d events, want 40 of 40", len(hook.Requests()), len(seen))
		}
	}
	for _, a := range f.attempts(endpoint.ID) {
		if a.Number != 1 || a.Status != webhooks.AttemptSucceeded || !idgen.Valid(idgen.Delivery, string(a.ID)) || !ids[a.EventID] || len(a.RequestBody) == 0 {
			t.Errorf("attempt %+v", a)
		}
	}
}

// TestBegunByTheDead: what was claimed by a process that died is sent when the lease has ended.
func TestBegunByTheDead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	f.append(f.ref, events.FatigueAlert)
	began := f.clock.now()
	made := f.fanOut(webhooks.Room{Begin: 1, Tasks: 1})
	if f.deliver(made.Due) != 0 { // as another process would
		t.Error("sent although another has claimed it")
	}
	f.clock.advance(40 * time.Second)
	if f.sweep() != 0 {
		t.Error("sent while the lease lasts")
	}
	f.clock.advance(15 * time.Second)
	if f.sweep() != 1 {
		t.Error("not sent after the lease")
	}
	got := f.attempts(endpoint.ID)
	if len(got) != 2 || got[0].Status != webhooks.AttemptUnknown || !got[0].StartedAt.Equal(began) || got[1].Status != webhooks.AttemptSucceeded || got[1].Number != 2 {
		t.Errorf("attempts: %+v", got)
	}
}

// TestGivenBack: what is claimed and cannot be sent has had no attempt.
func TestGivenBack(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(f *fixture, endpoint webhooks.Endpoint, made webhooks.Fanned) error{
		"NoPlace": func(f *fixture, _ webhooks.Endpoint, made webhooks.Fanned) error {
			return f.hooks.GiveBack(f.t.Context(), webhooks.Batches(made.Due)[0])
		},
		"NoShare": func(f *fixture, _ webhooks.Endpoint, made webhooks.Fanned) error {
			return f.hooks.PutOff(f.t.Context(), webhooks.Batches(made.Due)[0])
		},
		"TooLate": func(f *fixture, endpoint webhooks.Endpoint, made webhooks.Fanned) error {
			f.clock.advance(21 * time.Second)         // of 50
			if got := f.deliver(made.Due); got != 2 { // by a claim of its own
				f.t.Errorf("%d attempts, want 2", got)
			}
			if got := f.attempts(endpoint.ID)[0].StartedAt; !got.Equal(f.clock.now()) {
				f.t.Errorf("begun at %s, not %s, under a lease that is nearly over", got, f.clock.now())
			}
			return nil
		},
		"Unwanted": func(f *fixture, endpoint webhooks.Endpoint, made webhooks.Fanned) error {
			if _, err := f.hooks.Update(f.t.Context(), f.ref, endpoint.ID, webhooks.UpdateParams{Events: &[]string{}}); err != nil {
				return err
			}
			if got := f.deliver(made.Due); got != 0 {
				f.t.Errorf("%d attempts at an endpoint that does not want the event", got)
			}
			_, err := f.hooks.Update(f.t.Context(), f.ref, endpoint.ID, webhooks.UpdateParams{Events: &[]string{"fatigue.alert"}})
			return err
		},
		"Limited": func(f *fixture, endpoint webhooks.Endpoint, made webhooks.Fanned) error {
			ordered := true
			if _, err := f.hooks.Update(f.t.Context(), f.ref, endpoint.ID, webhooks.UpdateParams{Ordered: &ordered}); err != nil {
				return err
			}
			f.deliver(made.Due)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			r := receiver.New(t)
			endpoint := f.endpoint(f.ref, r, "fatigue.alert")
			f.append(f.ref, events.FatigueAlert)
			f.append(f.ref, events.FatigueAlert)
			made := f.fanOut(webhooks.Room{Begin: 1, Tasks: 1})
			f.hooks.Begin(made)
			if err := refuse(f, endpoint, made); err != nil {
				t.Fatal(err)
			}
			if sent := len(r.Requests()); sent == 0 && f.number(untouched) != 2 {
				t.Error("what was given back has an attempt, or is another's")
			}
			f.clock.advance(2 * time.Second)
			f.sweep()
			got := f.attempts(endpoint.ID)
			if len(got) != 2 || len(r.Requests()) != 2 {
				t.Fatalf("%d requests, attempts %+v", len(r.Requests()), got)
			}
			for _, a := range got {
				if a.Number != 1 || a.Status != webhooks.AttemptSucceeded {
					t.Errorf("attempt %+v", a)
				}
			}
		})
	}
}

// TestBegunLeavesLimitsAlone: endpoints with limits decide under their lock, so nothing is claimed ahead for them.
func TestBegunLeavesLimitsAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	most := 1
	if _, err := f.hooks.Update(t.Context(), f.ref, endpoint.ID, webhooks.UpdateParams{MaxInFlight: &most}); err != nil {
		t.Fatal(err)
	}
	f.append(f.ref, events.FatigueAlert)
	made := f.fanOut(webhooks.Room{Begin: 1, Tasks: 1})
	if f.number(untouched) != 1 || len(made.Due) != 1 {
		t.Errorf("%d due; it should be unclaimed", len(made.Due))
	}
	f.hooks.Begin(made)
	if f.deliver(made.Due) != 1 || len(r.Requests()) != 1 {
		t.Error("not sent")
	}
}
