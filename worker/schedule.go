package worker

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/telemetry"
)

// every runs fn at once, each interval, and when woken, until ctx ends; fn never runs beside
// itself. Errors are logged: the next run is the remedy.
func (w *Worker) every(ctx context.Context, what string, woken <-chan struct{}, fn func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := fn(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "periodic work failed", "work", what, telemetry.KeyError, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-woken:
		}
	}
}

// wake tells the receiver to look once more; one signal is enough for any number of reasons.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits; false says that ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
