package beat_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"parlance.dev/parlance/platform/beat"
)

// TestEvery: the first beat comes after one interval, those during work are left out, and it ends with the context or by itself.
func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		began := time.Now()
		var beats []time.Duration
		beat.Every(ctx, 2*time.Second, func() bool {
			beats = append(beats, time.Since(began))
			if len(beats) == 1 {
				time.Sleep(5 * time.Second) // of the bubble's time
			}
			return true
		})
		if len(beats) != 4 || beats[0] != 2*time.Second || beats[3] != 10*time.Second {
			t.Errorf("beats at %v", beats)
		}
		count := 0
		beat.Every(t.Context(), time.Second, func() bool { count++; return count < 3 })
		if count != 3 {
			t.Errorf("it went on: %d", count)
		}
	})
}
