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
	var release func()
	for range callsPerEndpoint {
		if release, _ = s.take(t.Context(), "we_slow"); release == nil {
			t.Fatal("no slot")
		}
	}
	if got := s.busy(now); len(got) != 0 {
		t.Errorf("busy at once: %v", got)
	}
	now = now.Add(slowAfter)
	if got := s.busy(now); !slices.Equal(got, []EndpointID{"we_slow"}) {
		t.Errorf("busy when slow: %v", got)
	}
	release()
	if got := s.busy(now); len(got) != 0 {
		t.Errorf("busy with a free slot: %v", got)
	}
	for range breakerFailures {
		s.note("we_slow", true)
	}
	if got := s.busy(now); len(got) != 1 {
		t.Errorf("busy with an open breaker: %v", got)
	}
	if got := s.busy(now.Add(breakerPause)); len(got) != 0 {
		t.Errorf("busy after the breaker's pause: %v", got)
	}
}
