package webhooks

import (
	"slices"
	"testing"
	"time"
)

// TestUnavailable lists the endpoints that would refuse a batch, so that no task is made for them.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := newLimiter(func() time.Time { return now })
	var releases []func()
	for range batchesAtOnce {
		got := l.acquire(t.Context(), "we_slow")
		if got.release == nil || got.probe {
			t.Fatalf("no permit: %+v", got)
		}
		releases = append(releases, got.release)
	}
	if got := l.unavailable(now); len(got) != 0 {
		t.Errorf("unavailable at once: %v", got)
	}
	now = now.Add(slowAfter)
	if got := l.unavailable(now); !slices.Equal(got, []EndpointID{"we_slow"}) {
		t.Errorf("unavailable when slow: %v", got)
	}
	releases[0]()
	if got := l.unavailable(now); len(got) != 0 {
		t.Errorf("unavailable with a free permit: %v", got)
	}
	for range breakerFailures {
		l.noteUnreachable("we_slow")
	}
	if got := l.unavailable(now); len(got) != 1 {
		t.Errorf("unavailable with an open breaker: %v", got)
	}
	releases[1]()
	if got := l.unavailable(now.Add(breakerPause)); len(got) != 0 {
		t.Errorf("unavailable after the breaker's pause: %v", got)
	}
	now = now.Add(breakerPause)
	probe := l.acquire(t.Context(), "we_slow")
	if probe.release == nil || !probe.probe {
		t.Fatalf("no probe after the pause: %+v", probe)
	}
	if second := l.acquire(t.Context(), "we_slow"); second.release != nil || len(l.unavailable(now)) != 1 {
		t.Error("two batches at once while the breaker is half-open")
	}
	l.noteUnreachable("we_slow")
	probe.release()
	if !l.breakerOpen("we_slow") {
		t.Error("a failed probe does not open the breaker again")
	}
	now = now.Add(breakerPause)
	l.noteReachable("we_slow")
	if got := l.acquire(t.Context(), "we_slow"); got.release == nil || got.probe {
		t.Errorf("still half-open after an answer: %+v", got)
	}
}

// TestPatience shows that two tasks wait for slow batches, and that further ones give up sooner.
func TestPatience(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l := newLimiter(func() time.Time { return now })
	for i, want := range []time.Duration{0, 0, slowAfter, slowAfter, slowAfterCrowded} {
		got, released, patience := l.try("we_slow")
		granted, waits := got.release != nil, released != nil
		if patience != want || granted != (i < batchesAtOnce) || waits != (i >= batchesAtOnce) {
			t.Errorf("batch %d: %+v with patience %s, want %s", i, got, patience, want)
		}
	}
	now = now.Add(slowAfterCrowded)
	if got, released, _ := l.try("we_slow"); released != nil || got.release != nil {
		t.Error("another task waits")
	}
	if got := l.unavailable(now); !slices.Equal(got, []EndpointID{"we_slow"}) {
		t.Errorf("unavailable: %v", got)
	}
	for range 2 {
		l.stopWaiting("we_slow")
	}
	if got := l.unavailable(now); len(got) != 0 {
		t.Errorf("unavailable although only one task waits: %v", got)
	}
	if _, released, patience := l.try("we_slow"); released == nil || patience != slowAfter-slowAfterCrowded {
		t.Errorf("patience %s", patience)
	}
}
