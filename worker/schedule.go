package worker

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/telemetry"
)

// periodic is work that is done at once, each interval, and when woken (nil: never).
type periodic struct {
	what     string
	interval time.Duration
	woken    <-chan struct{}
	fn       func(context.Context) error
}

// every does periodic work until ctx ends, never beside itself. Errors are logged: the next run
// is the remedy.
func (w *Worker) every(ctx context.Context, p periodic) {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	for {
		if err := p.fn(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "periodic work failed", "work", p.what, telemetry.KeyError, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-p.woken:
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
