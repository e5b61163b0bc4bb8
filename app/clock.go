package app

import (
	"context"
	"fmt"
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
	a.whileOpen(ctx, func(ctx context.Context) { clock.Watch(ctx, a.log) })
	return nil
}

// watchPlans reads the plans of the database now, and each second until Close is called.
func (a *App) watchPlans(ctx context.Context) error {
	if err := a.Workspaces.ReloadPlans(ctx); err != nil {
		return err
	}
	unknown, err := a.Workspaces.UnknownPlans(ctx)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		a.log.WarnContext(ctx, "tenants are on plans that do not exist and have what free allows: see parlance plans", "plans", unknown)
	}
	a.whileOpen(ctx, func(ctx context.Context) { a.Workspaces.WatchPlans(ctx, a.log) })
	return nil
}

// whileOpen runs work beside, until Close is called, which waits for it.
func (a *App) whileOpen(ctx context.Context, work func(ctx context.Context)) {
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(working)
	}()
	a.stops = append(a.stops, func() {
		cancel()
		<-done
	})
}
