package webhooks_test

import (
	"context"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/webhooks"
)

// TestRecordedBesideALockedEndpoint shows that results of other endpoints do not wait for a locked
// one.
func TestRecordedBesideALockedEndpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	held := f.endpoint(f.ref, receiver.New(t), "kb.source_ingested")
	free := make([]webhooks.Endpoint, 3)
	for i := range free {
		free[i] = f.endpoint(f.ref, receiver.New(t), "kb.source_ingested")
	}
	for range 4 {
		f.append(f.ref, events.KBSourceIngested)
	}
	batches := webhooks.Batches(f.relay())
	if len(batches) != 1+len(free) {
		t.Fatalf("%d batches, want one for each endpoint", len(batches))
	}
	var tasks sync.WaitGroup
	var heldErr error
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, "SELECT FROM webhook_endpoints WHERE tenant_id = ? AND id = ? FOR UPDATE", f.ref.TenantID,
			held.ID); err != nil {
			return err
		}
		for _, batch := range batches {
			tasks.Go(func() {
				_, err := f.hooks.Deliver(t.Context(), batch)
				if batch.EndpointID == held.ID {
					heldErr = err // a very slow machine waits no longer for the lock
				} else if err != nil {
					t.Errorf("%s: %v", batch.EndpointID, err)
				}
			})
		}
		for _, endpoint := range free {
			harness.Await(t, harness.Patience, "results of an endpoint beside the locked one", func() bool { return f.succeeded(endpoint.ID) == 4 })
		}
		if n := f.succeeded(held.ID); n != 0 {
			t.Errorf("%d results were written past the lock", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tasks.Wait()
	if n := f.succeeded(held.ID); n != 4 && heldErr == nil {
		t.Errorf("%d of 4 results of the locked endpoint were written afterwards", n)
	}
	for _, endpoint := range free {
		if got := f.get(endpoint.ID); got.LastSuccessAt.IsZero() || got.ConsecutiveFailures != 0 {
			t.Errorf("endpoint: %+v", got)
		}
	}
}

// succeeded counts an endpoint's attempts that succeeded.
func (f *fixture) succeeded(id webhooks.EndpointID) int {
	n := 0
	for _, a := range f.attempts(id) {
		if a.Status == webhooks.AttemptSucceeded && a.StatusCode == 200 && a.Error == "" && a.ResponseHeaders["Date"] != "" {
			n++
		}
	}
	return n
}
