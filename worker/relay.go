package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker/task"
)

const (
	// relayBatch is how many events one transaction relays.
	relayBatch = 200
	// enqueueTimeout bounds making tasks after a commit: Redis must not hold up the relay.
	enqueueTimeout = 2 * time.Second
)

// relayPublic makes the deliveries of all public events there are.
func (w *Worker) relayPublic(ctx context.Context) error {
	for {
		n, due, err := w.relayPublicBatch(ctx)
		if err != nil {
			return err
		}
		w.metrics.relayed(kindPublic, n)
		if err := w.enqueue(ctx, task.DeliverWebhooks(due, w.now())); err != nil {
			// The deliveries are made; the sweep finds them.
			w.log.InfoContext(ctx, "delivery tasks left to the sweep", telemetry.KeyCount, len(due), telemetry.KeyError, err)
		}
		if n < relayBatch {
			return nil
		}
	}
}

func (w *Worker) relayPublicBatch(ctx context.Context) (n int, due []webhooks.Due, err error) {
	now := w.now().UTC()
	err = postgres.InTx(ctx, w.db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		rows, err := events.UnrelayedPublic(ctx, tx, relayBatch)
		if err != nil {
			return err
		}
		if due, err = w.webhooks.FanOut(ctx, tx, rows); err != nil {
			return err
		}
		n = len(rows)
		return events.MarkRelayed(ctx, tx, rows, now)
	})
	return n, due, err
}

// relayInternal makes the tasks of all internal events there are. An event is marked after its
// task was made; when Redis is away it waits.
func (w *Worker) relayInternal(ctx context.Context) error {
	types := w.internalTypes()
	for len(types) > 0 {
		rows, err := events.UnrelayedInternal(ctx, w.db, types, relayBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		made := 0
		for _, row := range rows {
			if err = w.enqueue(ctx, []queue.Task{w.taskFuncs[row.Type](row)}); err != nil {
				break
			}
			made++
		}
		if markErr := events.MarkRelayed(ctx, w.db, rows[:made], w.now().UTC()); markErr != nil {
			return markErr
		}
		w.metrics.relayed(kindInternal, made)
		if err != nil || len(rows) < relayBatch {
			return err
		}
	}
	return nil
}

// enqueue makes tasks until one cannot be made.
func (w *Worker) enqueue(ctx context.Context, tasks []queue.Task) error {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	for _, one := range tasks {
		if err := w.client.Enqueue(ctx, one); err != nil {
			return fmt.Errorf("make a task: %w", err)
		}
	}
	return nil
}
