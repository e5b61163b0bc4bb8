package ticker

import (
	"context"
	"time"
)

// Every calls work each time interval has passed, for the first time after one interval, until ctx
// ends. A tick that comes while work is busy is left out.
func Every(ctx context.Context, interval time.Duration, work func()) {
	Until(ctx, interval, func() (done bool) {
		work()
		return false
	})
}

// Until is Every for work that may be done before ctx ends: it returns when work returns true.
func Until(ctx context.Context, interval time.Duration, work func() (done bool)) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for next(ctx, ticks, nil) && !work() {
	}
}

// Run calls work at once, then each time interval has passed and when woken has a value, until ctx
// ends. A nil woken never has one.
func Run(ctx context.Context, interval time.Duration, woken <-chan struct{}, work func()) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for more := true; more; more = next(ctx, ticks, woken) {
		work()
	}
}

// next waits for the next tick, or a value of woken; false when ctx has ended.
func next(ctx context.Context, ticks *time.Ticker, woken <-chan struct{}) bool {
	select {
	case <-ctx.Done():
	case <-ticks.C:
	case <-woken:
	}
	return ctx.Err() == nil
}
