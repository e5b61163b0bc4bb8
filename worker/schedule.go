package worker

import (
	"context"
	"maps"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
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

// repeat does periodic work until ctx ends, one run at a time. Errors are logged; the next run is
// the retry.
func (w *Worker) repeat(ctx context.Context, p periodic) {
	var failureLogged time.Time // zero while the work succeeds
	ticker.Run(ctx, p.interval, p.woken, func() {
		if err := p.fn(ctx); ctx.Err() == nil {
			failureLogged = w.logRun(ctx, p.name, err, failureLogged)
		}
	})
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

// SweepFunc does what is due at now. Two sweeps side by side are harmless.
type SweepFunc func(ctx context.Context, now time.Time) error

// sweepTasks are the sweeps that are tasks, by the types of these: one run in the whole
// installation.
func (d Deps) sweepTasks() map[string]SweepFunc {
	sweeps := map[string]SweepFunc{
		"sweep_webhooks": d.Webhooks.Sweep, "sweep_strays": d.Strays, "sweep_answers": d.Answers, "sweep_traces": d.Traces,
		"sweep_audit": d.Audit, "sweep_usage": d.UsageRecords, "sweep_recordings": d.Recordings,
	}
	if d.Privacy != nil {
		sweeps["sweep_exports"], sweeps["sweep_retention"] = d.Privacy.Sweep, d.Privacy.SweepRetention
	}
	maps.DeleteFunc(sweeps, func(_ string, sweep SweepFunc) bool { return sweep == nil })
	return sweeps
}

// handleSweep runs a sweep. Errors are logged; the next run is the retry.
func (w *Worker) handleSweep(name string, sweep SweepFunc) queue.HandlerFunc {
	run := w.byAge(sweep)
	return func(ctx context.Context, _ []byte) error {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "periodic work failed", "work", name, telemetry.KeyError, err)
		}
		return nil
	}
}

// byAge returns a sweep by the clock of Postgres: a worker whose own clock is ahead must not delete
// what is not old yet.
func (w *Worker) byAge(sweep SweepFunc) func(context.Context) error {
	return func(ctx context.Context) error {
		now, err := postgres.Now(ctx, w.db)
		if err != nil {
			return err
		}
		return sweep(ctx, now)
	}
}

// byOwnClock returns a sweep by the worker's clock.
func (w *Worker) byOwnClock(sweep SweepFunc) func(context.Context) error {
	return func(ctx context.Context) error { return sweep(ctx, w.now()) }
}

// wake sends to a channel of size 1. One value is enough for any number of reasons.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
