package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
)

// event is the n-th of a kind; its body is about as long as most.
func (s *station) event() events.Event {
	return events.Event{
		ID: idgen.New(idgen.Event), TenantID: s.place.tenant, WorkspaceID: s.place.workspace, Type: events.KBSourceIngested,
		Payload: events.Example(events.KBSourceIngested), CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
}

// publish appends one event in a transaction and returns its id and when that was committed.
func (s *station) publish(ctx context.Context) (id string, committed time.Time, err error) {
	e := s.event()
	err = postgres.InTx(ctx, s.w.db, func(ctx context.Context, tx bun.Tx) error {
		_, err := events.Append(ctx, tx, e)
		return err
	})
	return e.ID, time.Now(), err
}

// publishAll appends n events as quickly as the publishers can.
func (s *station) publishAll(ctx context.Context, n int) (committed map[string]time.Time, err error) {
	var (
		mu      sync.Mutex
		next    atomic.Int64
		working errgroup.Group
	)
	committed = make(map[string]time.Time, n)
	for range publishers {
		working.Go(func() error {
			for next.Add(1) <= int64(n) {
				id, at, err := s.publish(ctx)
				if err != nil {
					return err
				}
				mu.Lock()
				committed[id] = at
				mu.Unlock()
			}
			return nil
		})
	}
	return committed, working.Wait()
}

// await waits for what expect was told.
func (s *station) await(ctx context.Context, awaited <-chan struct{}) error {
	patience := time.NewTimer(hookPatience)
	defer patience.Stop()
	select {
	case <-awaited:
	case <-patience.C:
		s.mu.Lock()
		defer s.mu.Unlock()
		return fmt.Errorf("%d deliveries did not come", s.missing)
	case <-ctx.Done():
		return fmt.Errorf("waiting for deliveries: %w", ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.twice > 0 {
		return fmt.Errorf("%d deliveries came twice", s.twice)
	}
	return nil
}
