package journal

import (
	"context"
	"testing"
)

// TestWatchOfWhatHasEnded: work whose caller has gone is watched like any other.
func TestWatchOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	watched, stop := (&Journal{}).watch(ended)
	stop()
	if watched.Err() == nil {
		t.Error("the work goes on")
	}
}
