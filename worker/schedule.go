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

// sayAgainAfter is how long a failure of the same work is not logged again: most have one cause, and
// work that is done each second would fill the log with it.
const sayAgainAfter = time.Minute

// every does periodic work until ctx ends, never beside itself. Errors are logged: the next run
// is the remedy.
func (w *Worker) every(ctx context.Context, p periodic) {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	var said time.Time // when its failing was logged; zero while it does not fail
	for {
		if err := p.fn(ctx); ctx.Err() == nil {
			said = w.say(ctx, p.what, err, said)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-p.woken:
		}
	}
}

// say logs how a run of periodic work ended, given when its failing was logged last, and returns that anew.
func (w *Worker) say(ctx context.Context, what string, err error, said time.Time) time.Time {
	now := w.now()
	switch {
	case err != nil && (said.IsZero() || now.Sub(said) >= sayAgainAfter):
		w.log.WarnContext(ctx, "periodic work failed", "work", what, telemetry.KeyError, err)
		return now
	case err != nil:
		w.log.DebugContext(ctx, "periodic work failed", "work", what, telemetry.KeyError, err)
	case !said.IsZero():
		w.log.InfoContext(ctx, "periodic work goes on", "work", what)
		return time.Time{}
	}
	return said
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
