package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parlance.dev/parlance/platform/postgres"
)

// setClock corrects the machine's clock by that of Postgres until Close is called.
func (a *App) setClock(ctx context.Context, machine func() time.Time) error {
	if machine == nil {
		machine = time.Now
	}
	clock := postgres.NewClock(a.db, machine)
	a.now = clock.Now
	switch changed, err := clock.Adjust(ctx); {
	case err != nil:
		return fmt.Errorf("compare the clocks: %w", err)
	case changed != 0:
		clock.Warn(ctx, a.log)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() { clock.Watch(watching, a.log) })
	a.stopClock = func() {
		cancel()
		watch.Wait()
	}
	return nil
}
