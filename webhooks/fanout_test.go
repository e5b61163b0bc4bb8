package webhooks_test

import (
	"testing"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/workspaces"
)

func TestFanOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stranger := f.tenant()
	second, err := f.workspaces.CreateWorkspace(t.Context(), workspaces.Principal{TenantID: f.ref.TenantID}, "second")
	if err != nil {
		t.Fatal(err)
	}
	sibling := workspaces.Ref{TenantID: second.TenantID, ID: second.ID}
	subscribed, other, empty, foreign, beside := receiver.New(t), receiver.New(t), receiver.New(t), receiver.New(t), receiver.New(t)
	f.endpoint(f.ref, subscribed, "fatigue.alert", "invoice.paid")
	f.endpoint(f.ref, other, "usage.threshold")
	f.endpoint(f.ref, empty)
	f.endpoint(stranger, foreign, "fatigue.alert", "invoice.paid")
	f.endpoint(sibling, beside, "fatigue.alert", "invoice.paid")
	f.append(f.ref, events.FatigueAlert)
	f.append(workspaces.Ref{TenantID: f.ref.TenantID}, events.InvoicePaid)
	f.deliver(f.relay())
	for name, one := range map[string]struct {
		r    *receiver.Receiver
		want int
	}{"subscribed": {subscribed, 2}, "other": {other, 0}, "empty": {empty, 0}, "foreign": {foreign, 0}, "sibling": {beside, 1}} {
		inOrder(t, one.r.Requests())
		if got := len(one.r.Requests()); got != one.want {
			t.Errorf("%s: %d requests, want %d", name, got, one.want)
		}
	}
}

// TestFanOutQueuesABoundedPart shows that FanOut queues so many batches of the deliveries it makes,
// the first of each endpoint first, and that Due returns the others.
func TestFanOutQueuesABoundedPart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r, second := receiver.New(t), receiver.New(t)
	f.endpoint(f.ref, r, "fatigue.alert")
	f.endpoint(f.ref, second, "fatigue.alert")
	f.happen(40)
	made, err := f.fanOut(t.Context(), f.db, 3) // of two batches for each endpoint
	if err != nil || len(made.Queued) != 72 || made.Waiting != 8 {
		t.Fatalf("%d queued and %d waiting, %v; want 72 and 8", len(made.Queued), made.Waiting, err)
	}
	if n := f.sweep(); n != 8 {
		t.Errorf("%d attempts of what waited, want 8", n)
	}
	if n := f.deliver(made.Queued); n != 72 {
		t.Errorf("%d attempts of what was queued, want 72", n)
	}
	if n := f.deliver(made.Queued); n != 0 {
		t.Errorf("%d attempts by repeated tasks", n)
	}
	for _, hook := range []*receiver.Receiver{r, second} {
		inOrder(t, hook.Requests())
		if n := len(hook.Requests()); n != 40 {
			t.Errorf("%d requests, want 40", n)
		}
	}
}
