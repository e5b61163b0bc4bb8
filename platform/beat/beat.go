package beat

import (
	"context"
	"time"
)

// Every calls work each time the interval has passed, first after one, until ctx ends or work says that it was the last
// time. A beat that comes while work is busy is left out.
func Every(ctx context.Context, interval time.Duration, work func() (again bool)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if ctx.Err() != nil || !work() {
			return
		}
	}
}
