package worker

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
)

// periodic is work that each process does at once, then each interval, and when woken (nil: never).
type periodic struct {
	name     string
	interval time.Duration
	woken    <-chan struct{}
	fn       func(context.Context) error
}

// logAgainAfter is how long a failure of the same work is not logged again. Most failures have one
// cause, and work that runs each second would fill the log with it.
const logAgainAfter = time.Minute

// every does periodic work until ctx ends, one run at a time. Errors are logged; the next run is
// the retry.
func (w *Worker) every(ctx context.Context, p periodic) {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	var failureLogged time.Time // zero while the work succeeds
	for {
		if err := p.fn(ctx); ctx.Err() == nil {
			failureLogged = w.logRun(ctx, p.name, err, failureLogged)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-p.woken:
		}
	}
}

// logRun logs the end of a run of periodic work. It takes the time when a failure was logged last,
// and returns it for the next run.
func (w *Worker) logRun(ctx context.Context, name string, err error, failureLogged time.Time) time.Time {
	now := w.now()
	switch {
	case err != nil && (failureLogged.IsZero() || now.Sub(failureLogged) >= logAgainAfter):
		w.log.WarnContext(ctx, "periodic work failed", "work", name, telemetry.KeyError, err)
		return now
	case err != nil:
		w.log.DebugContext(ctx, "periodic work failed", "work", name, telemetry.KeyError, err)
	case !failureLogged.IsZero():
		w.log.InfoContext(ctx, "periodic work succeeds again", "work", name)
		return time.Time{}
	}
	return failureLogged
}

// sweepTimeout bounds one run of a sweep that is a task.
const sweepTimeout = 5 * time.Minute

// sweep is housekeeping that is a periodic task: one run in the whole installation.
type sweep struct {
	name  string
	every time.Duration
	noun  Housekeeper
}

func (s sweep) taskType() string { return "sweep_" + s.name }

// sweeps lists those whose nouns there are.
func (d Deps) sweeps() []sweep {
	var list []sweep
	for _, one := range []sweep{
		{"webhooks", slowInterval, d.Webhooks},
		{"strays", slowInterval, d.Strays},
		{"answers", slowInterval, d.Answers},
		{"traces", slowInterval, d.Traces},
	} {
		if one.noun != nil {
			list = append(list, one)
		}
	}
	return list
}

// handleSweep runs a sweep. Errors are logged; the next run is the retry.
func (w *Worker) handleSweep(s sweep) queue.HandlerFunc {
	run := w.byAge(s.noun)
	return func(ctx context.Context, _ []byte) error {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "periodic work failed", "work", "sweep of "+s.name, telemetry.KeyError, err)
		}
		return nil
	}
}

// periodicTasks are the sweeps for queue.RunScheduler.
func periodicTasks(sweeps []sweep) []queue.PeriodicTask {
	tasks := make([]queue.PeriodicTask, len(sweeps))
	for i, one := range sweeps {
		tasks[i] = queue.PeriodicTask{Type: one.taskType(), Queue: queue.Sweep, Every: one.every, Timeout: sweepTimeout}
	}
	return tasks
}

// byAge returns a sweep by the clock of Postgres: a worker whose own clock is ahead must not delete
// what is not old yet.
func (w *Worker) byAge(noun Housekeeper) func(context.Context) error {
	return func(ctx context.Context) error {
		now, err := postgres.Now(ctx, w.db)
		if err != nil {
			return err
		}
		return noun.Sweep(ctx, now)
	}
}

// byOwnClock returns a sweep by the worker's clock.
func (w *Worker) byOwnClock(noun Housekeeper) func(context.Context) error {
	return func(ctx context.Context) error { return noun.Sweep(ctx, w.now()) }
}

// wake sends to a channel of size 1. One value is enough for any number of reasons.
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
