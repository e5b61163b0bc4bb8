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
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if ctx.Err() != nil || work() {
			return
		}
	}
}
