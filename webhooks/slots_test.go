package webhooks

import (
	"slices"
	"testing"
	"time"
)

// TestBusy: endpoints that would refuse a call are known, so that nothing is handed over for them.
func TestBusy(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newSlots(func() time.Time { return now })
	var releases []func()
	for range callsPerEndpoint {
		got := s.take(t.Context(), "we_slow")
		if got.release == nil || got.probe {
			t.Fatalf("no slot: %+v", got)
		}
		releases = append(releases, got.release)
	}
	if got := s.busy(now); len(got) != 0 {
		t.Errorf("busy at once: %v", got)
	}
	now = now.Add(slowAfter)
	if got := s.busy(now); !slices.Equal(got, []EndpointID{"we_slow"}) {
		t.Errorf("busy when slow: %v", got)
	}
	releases[0]()
	if got := s.busy(now); len(got) != 0 {
		t.Errorf("busy with a free slot: %v", got)
	}
	for range breakerFailures {
		s.note("we_slow", true)
	}
	if got := s.busy(now); len(got) != 1 {
		t.Errorf("busy with an open breaker: %v", got)
	}
	releases[1]()
	if got := s.busy(now.Add(breakerPause)); len(got) != 0 {
		t.Errorf("busy after the breaker's pause: %v", got)
	}
	now = now.Add(breakerPause)
	probe := s.take(t.Context(), "we_slow")
	if probe.release == nil || !probe.probe {
		t.Fatalf("no probe after the pause: %+v", probe)
	}
	if second := s.take(t.Context(), "we_slow"); second.release != nil || len(s.busy(now)) != 1 {
		t.Error("two at once while nobody knows whether the endpoint answers")
	}
	s.note("we_slow", true)
	probe.release()
	if !s.open("we_slow") {
		t.Error("one time-out more does not open the breaker again")
	}
	now = now.Add(breakerPause)
	s.note("we_slow", false)
	if got := s.take(t.Context(), "we_slow"); got.release == nil || got.probe {
		t.Errorf("still trying after an answer: %+v", got)
	}
}

// TestCrowdedSlots: two may wait for calls that are slow; those beyond them soon give their places up.
func TestCrowdedSlots(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s := newSlots(func() time.Time { return now })
	for i, want := range []time.Duration{0, 0, slowAfter, slowAfter, crowdedAfter} {
		got, freed, patience := s.try("we_slow")
		if patience != want || (got.release != nil) != (i < callsPerEndpoint) || (freed != nil) != (i >= callsPerEndpoint) {
			t.Errorf("call %d: %+v with patience %s, want %s", i, got, patience, want)
		}
	}
	now = now.Add(crowdedAfter)
	if got, freed, _ := s.try("we_slow"); freed != nil || got.release != nil {
		t.Error("one more waits")
	}
	if got := s.busy(now); !slices.Equal(got, []EndpointID{"we_slow"}) {
		t.Errorf("busy: %v", got)
	}
	for range 2 {
		s.wait("we_slow", -1)
	}
	if got := s.busy(now); len(got) != 0 {
		t.Errorf("busy although only one waits: %v", got)
	}
	if _, freed, patience := s.try("we_slow"); freed == nil || patience != slowAfter-crowdedAfter {
		t.Errorf("patience %s", patience)
	}
}
