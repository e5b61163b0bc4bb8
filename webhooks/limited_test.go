package webhooks_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/events"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

// endpointWith registers a receiver of fatigue.alert with options.
func (f *fixture) endpointWith(r *receiver.Receiver, p webhooks.CreateParams) webhooks.Endpoint {
	f.t.Helper()
	p.URL, p.Events = r.URL+"/hook", []string{"fatigue.alert"}
	minted, err := f.hooks.Create(f.t.Context(), f.ref, p)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Expect(minted.Secret.Reveal())
	return minted.Endpoint
}

// happen appends n events and returns their ids.
func (f *fixture) happen(n int) []string {
	f.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = f.append(f.ref, events.FatigueAlert)
	}
	return ids
}

func eventIDs(requests []receiver.Request) []string {
	ids := make([]string, len(requests))
	for i, request := range requests {
		ids[i] = request.EventID
	}
	return ids
}

func (f *fixture) update(id webhooks.EndpointID, p webhooks.UpdateParams) webhooks.Endpoint {
	f.t.Helper()
	endpoint, err := f.hooks.Update(f.t.Context(), f.ref, id, p)
	if err != nil {
		f.t.Fatal(err)
	}
	return endpoint
}

// TestOrdered shows that a failing event delays the later ones until its last attempt.
func TestOrdered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpointWith(r, webhooks.CreateParams{Ordered: true})
	want := f.happen(5)
	r.Script(receiver.Answer{}, receiver.Answer{Status: 500}, receiver.Answer{Reset: true}, receiver.Answer{Status: 500},
		receiver.Answer{Status: 500})
	f.deliver(f.relay())
	late := f.happen(1)
	f.deliver(f.relay())
	if got := len(r.Requests()); got != 2 {
		t.Fatalf("%d requests came, want 2: the second holds the others", got)
	}
	for range len(pauses) {
		f.clock.advance(4 * time.Second)
		f.sweep()
	}
	requests := r.Requests()
	inOrder(t, requests)
	sent := append([]string{want[0], want[1], want[1], want[1], want[1]}, append(want[2:], late...)...)
	if diff := cmp.Diff(eventIDs(requests), sent); diff != "" {
		t.Error(diff)
	}
	if got := f.get(endpoint.ID); got.ConsecutiveFailures != 0 {
		t.Errorf("endpoint: %+v", got)
	}
}

// TestOrderedFromTwoWorkers shows that two workers with several tasks each keep the order and send
// one request at a time, while some answers fail.
func TestOrderedFromTwoWorkers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	f.endpointWith(r, webhooks.CreateParams{Ordered: true})
	want := f.happen(70)
	failures := map[int]bool{3: true, 4: true, 20: true, 41: true, 60: true}
	var mu sync.Mutex
	count := 0
	r.Each(func() receiver.Answer {
		mu.Lock()
		defer mu.Unlock()
		count++
		if failures[count] {
			return receiver.Answer{Status: 503}
		}
		return receiver.Answer{}
	})
	due := f.relay()
	workers := []*webhooks.Service{f.hooks, f.service()}
	for round := range 12 {
		var group sync.WaitGroup
		for _, service := range workers {
			for _, batch := range webhooks.Batches(due) {
				group.Go(func() {
					if _, err := service.Deliver(t.Context(), batch); err != nil {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
		f.clock.advance(5 * time.Second)
		var err error
		if due, err = workers[round%2].Due(t.Context(), f.clock.now(), fair.Ask{Room: 100}); err != nil {
			t.Fatal(err)
		}
	}
	requests := r.Requests()
	inOrder(t, requests)
	if got := slices.Compact(eventIDs(requests)); !slices.Equal(got, want) || len(requests) != len(want)+len(failures) {
		t.Errorf("%d requests, in the order\n%s\nwant\n%s", len(requests), strings.Join(got, " "), strings.Join(want, " "))
	}
}

// TestOrderedAfterCrash shows that the delivery of a dead worker is sent again before the later
// ones.
func TestOrderedAfterCrash(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	f.endpointWith(r, webhooks.CreateParams{Ordered: true})
	want := f.happen(3)
	r.Script(receiver.Answer{Hold: make(chan struct{})})
	batch := webhooks.Batches(f.relay())[0]
	dying, die := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { _, _ = f.hooks.Deliver(dying, batch) })
	r.Await(t.Context(), t, 1)
	die()
	group.Wait()
	f.hooks = f.service()
	f.clock.advance(20 * time.Second)
	if n := f.sweep(); n != 0 {
		t.Errorf("%d sent while the lease of the first lasts", n)
	}
	f.clock.advance(20 * time.Second)
	f.sweep()
	if diff := cmp.Diff(eventIDs(r.Requests()), append(want[:1:1], want...)); diff != "" {
		t.Error(diff)
	}
}

// TestOrderedRedelivery sends a finished delivery again first; pending ones keep their order.
func TestOrderedRedelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpointWith(r, webhooks.CreateParams{Ordered: true})
	want := f.happen(3)
	r.Script(receiver.Answer{}, receiver.Answer{Status: 500})
	f.deliver(f.relay())
	first := f.attempts(endpoint.ID)[0]
	if _, err := f.hooks.Redeliver(t.Context(), f.ref, endpoint.ID, first.ID); err != nil {
		t.Fatal(err)
	}
	r.Script(receiver.Answer{Status: 500}) // the redelivery of something finished holds nobody
	f.sweep()
	f.clock.advance(time.Second)
	f.sweep()
	if diff := cmp.Diff(eventIDs(r.Requests()), []string{want[0], want[1], want[0], want[1], want[2]}); diff != "" {
		t.Error(diff)
	}
}

// TestOrderedSwitched switches the order off, which sends what waits at once, and on again.
func TestOrderedSwitched(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpointWith(r, webhooks.CreateParams{Ordered: true})
	want := f.happen(3)
	r.Script(receiver.Answer{Status: 500})
	f.deliver(f.relay())
	yes, no := true, false
	f.update(endpoint.ID, webhooks.UpdateParams{Ordered: &no})
	if f.sweep() != 2 {
		t.Error("what was behind the first is held without an order")
	}
	r.Script(receiver.Answer{Status: 500}) // the second attempt of the first
	f.clock.advance(time.Second)
	f.sweep()
	f.update(endpoint.ID, webhooks.UpdateParams{Ordered: &yes})
	last := f.happen(1)
	f.deliver(f.relay())
	if got := len(r.Requests()); got != 4 {
		t.Errorf("%d requests, want 4: the first holds the last", got)
	}
	f.clock.advance(2 * time.Second)
	f.sweep()
	got := eventIDs(r.Requests())
	if len(got) != 6 || !slices.Equal(got[4:], []string{want[0], last[0]}) {
		t.Errorf("got %v, want %s and %s at the end", got, want[0], last[0])
	}
}

// TestMaxInFlight shows that two workers together keep to the limit of requests at once.
func TestMaxInFlight(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	endpoint := f.endpointWith(r, webhooks.CreateParams{MaxInFlight: 3})
	f.happen(40)
	hold := make(chan struct{})
	r.Always(receiver.Answer{Hold: hold})
	batches := webhooks.Batches(f.relay())
	other := f.service()
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := f.hooks.Deliver(t.Context(), batches[0]); err != nil {
			t.Error(err)
		}
	})
	r.Await(t.Context(), t, 3)
	// The first holds all places: the second returns without having sent anything.
	if tally, err := other.Deliver(t.Context(), batches[1]); err != nil || len(tally) != 0 {
		t.Errorf("another worker made the attempts %v, %v; want none", tally, err)
	}
	if got := len(r.Requests()); got != 3 {
		t.Errorf("%d requests at once, want 3", got)
	}
	close(hold)
	group.Wait()
	if got := len(r.Requests()); got != 40 {
		t.Errorf("%d requests, want 40: who has the places does the work of both", got)
	}
	if got := f.get(endpoint.ID); got.ConsecutiveFailures != 0 {
		t.Errorf("endpoint: %+v", got)
	}
	// A worker that dies gives its places back with its leases.
	more := make(chan struct{})
	r.Always(receiver.Answer{Hold: more})
	f.happen(3)
	batch := webhooks.Batches(f.relay())[0]
	dying, die := context.WithCancel(t.Context())
	group.Go(func() { _, _ = f.hooks.Deliver(dying, batch) })
	r.Await(t.Context(), t, 43)
	die()
	group.Wait()
	close(more)
	f.clock.advance(40 * time.Second)
	if f.sweep() != 3 {
		t.Error("the places of a worker that died are lost")
	}
}

// TestMaxPerSecond shows that two workers send what one second allows while the clock stands still.
func TestMaxPerSecond(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	f.endpointWith(r, webhooks.CreateParams{MaxPerSecond: 20})
	f.happen(50)
	due := f.relay()
	workers := []*webhooks.Service{f.hooks, f.service()}
	for _, want := range []int{20, 40, 50} {
		var group sync.WaitGroup
		for _, service := range workers {
			for _, batch := range webhooks.Batches(due) {
				group.Go(func() {
					if _, err := service.Deliver(t.Context(), batch); err != nil {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
		if got := len(r.Requests()); got != want {
			t.Fatalf("%d requests, want %d", got, want)
		}
		f.clock.advance(time.Second)
		var err error
		if due, err = f.hooks.Due(t.Context(), f.clock.now(), fair.Ask{Room: 100}); err != nil {
			t.Fatal(err)
		}
	}
	inOrder(t, r.Requests())
}

// TestAgents shows that an endpoint with agents gets the events about one of them only.
func TestAgents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	own, every := receiver.New(t), receiver.New(t)
	endpoint := f.endpointWith(own, webhooks.CreateParams{AgentIDs: []string{"agt_a", "agt_b", "agt_a"}})
	f.update(endpoint.ID, webhooks.UpdateParams{Events: &[]string{"fatigue.alert", "dsar.ready", "kb.source_ingested"}})
	f.endpoint(f.ref, every, "fatigue.alert", "dsar.ready", "kb.source_ingested")
	alert := func(agent string) string {
		return f.appendEvent(events.Event{
			TenantID: string(f.ref.TenantID), WorkspaceID: string(f.ref.ID), Type: events.FatigueAlert,
			Payload: &parlancev1.FatigueAlert{AgentId: agent}, CreatedAt: f.clock.now(),
		})
	}
	a, b := alert("agt_a"), alert("agt_b")
	alert("agt_c")
	alert("")
	f.append(f.ref, events.DSARReady)
	f.append(f.ref, events.KBSourceIngested)
	// The binary before knows no agents.
	if _, err := f.db.ExecContext(t.Context(), "UPDATE events SET agent_id = NULL WHERE tenant_id = ? AND event_id <> ?",
		f.ref.TenantID, a); err != nil {
		t.Fatal(err)
	}
	f.deliver(f.relay())
	if diff := cmp.Diff(eventIDs(own.Requests()), []string{a, b}, sorted); diff != "" {
		t.Error(diff)
	}
	if got := len(every.Requests()); got != 6 {
		t.Errorf("an endpoint without agents got %d, want 6", got)
	}
	// What waits for an agent that was taken off the list is held.
	own.Script(receiver.Answer{Status: 500})
	held := alert("agt_b")
	f.deliver(f.relay())
	f.update(endpoint.ID, webhooks.UpdateParams{AgentIDs: &[]string{"agt_a"}})
	f.clock.advance(time.Minute)
	if f.sweep() != 0 {
		t.Error("sent for an agent that the endpoint does not hear")
	}
	f.update(endpoint.ID, webhooks.UpdateParams{AgentIDs: &[]string{}})
	if f.sweep() != 1 || eventIDs(own.Requests())[3] != held {
		t.Errorf("what was held did not come: %v", eventIDs(own.Requests()))
	}
}

var sorted = cmp.Transformer("sorted", func(ids []string) []string { return slices.Sorted(slices.Values(ids)) })
