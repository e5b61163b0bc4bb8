package ticker_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parlance.dev/parlance/platform/ticker"
)

// TestEvery: the first call comes after one interval, ticks during work are left out, and the
// context ends it.
func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		began := time.Now()
		var calls []time.Duration
		ticker.Every(ctx, 2*time.Second, func() {
			calls = append(calls, time.Since(began))
			if len(calls) == 1 {
				time.Sleep(5 * time.Second) // of the bubble's time
			}
		})
		if len(calls) != 4 || calls[0] != 2*time.Second || calls[3] != 10*time.Second {
			t.Errorf("calls at %v", calls)
		}
	})
}

// TestUntil: it returns when the work is done, or when the context ends before that.
func TestUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var calls []time.Duration
		ticker.Until(t.Context(), time.Second, func() (done bool) {
			calls = append(calls, time.Since(began))
			return len(calls) == 3
		})
		if !slices.Equal(calls, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}) {
			t.Errorf("calls at %v", calls)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		count := 0
		ticker.Until(ctx, time.Second, func() (done bool) { count++; return false })
		if count != 1 {
			t.Errorf("%d calls before the context ended, want 1", count)
		}
	})
}
