package live_test

import (
	"sync"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/turns/requests"
)

// TestFollowersAreBounded: a turn has a number of followers on a node; one more is told to wait.
func TestFollowersAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	let := make(chan struct{}, 1)
	f.model = &script{steps: []step{paced(let, "Hello.")}}
	id := f.create(t).Session.ID
	said := &eventListener{}
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Stream(t.Context(), f.principal, id, requests.Params{Text: "Hello?"}, said.receive); err != nil {
			t.Errorf("the turn: %v", err)
		}
	})
	await(t, "the turn's begin", func() bool { return len(said.received()) > 0 })
	turn := said.received()[0].TurnID
	followers := make([]*eventListener, requests.MaxFollowers)
	for i := range followers {
		followers[i] = &eventListener{}
		running.Go(func() {
			if err := f.Follow(t.Context(), f.principal, id, turn, "", followers[i].receive); err != nil {
				t.Errorf("follower %d: %v", i, err)
			}
		})
	}
	for _, one := range followers {
		await(t, "a follower's first event", func() bool { return len(one.received()) > 0 })
	}
	refused := f.Follow(t.Context(), f.principal, id, turn, "", (&eventListener{}).receive)
	wantReason(t, refused, fault.RateLimitedReason)
	if fault.From(refused).RetryAfter <= 0 {
		t.Error("it is not said when to try again")
	}
	let <- struct{}{}
	running.Wait()
	if err := f.Follow(t.Context(), f.principal, id, turn, "", (&eventListener{}).receive); err != nil {
		t.Errorf("when the others are gone: %v", err)
	}
}
