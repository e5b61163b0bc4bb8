package webhooks_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

// TestDueKeepsToTheShare shows that Due returns no more of a tenant than its share leaves.
func TestDueKeepsToTheShare(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r, other := receiver.New(t), f.tenant()
	for range 5 {
		f.endpoint(f.ref, r, "fatigue.alert")
	}
	f.endpoint(other, r, "fatigue.alert")
	f.append(f.ref, events.FatigueAlert)
	f.append(other, events.FatigueAlert)
	f.relay()
	f.clock.advance(webhooks.DefaultPolicy().Requeue + time.Second) // what the relay counted as queued was lost
	offered := func(ask fair.Ask) map[string]int {
		due, err := f.hooks.Due(t.Context(), f.clock.now(), ask)
		if err != nil {
			t.Fatal(err)
		}
		batches := map[string]int{}
		for _, batch := range webhooks.Batches(due) {
			batches[string(batch.TenantID)]++
		}
		return batches
	}
	greedy := string(f.ref.TenantID)
	if got := offered(fair.Ask{Room: 100, Share: 3, Held: map[string]int{greedy: 1}}); got[greedy] != 2 || got[string(other.TenantID)] != 1 {
		t.Errorf("batches: %v, want two that are left of the share of three, and the other's one", got)
	}
	if got := offered(fair.Ask{Room: 100, Share: 3, Held: map[string]int{greedy: 3}}); len(got) != 0 {
		t.Errorf("batches: %v, want none of a tenant that has its share", got)
	}
	if got := offered(fair.Ask{Room: 100}); got[greedy] != 3 {
		t.Errorf("batches: %v, want the three that are left", got)
	}
}
