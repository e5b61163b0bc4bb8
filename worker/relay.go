package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker/task"
)

const (
	// relayBatch is how many events one transaction relays.
	relayBatch = 200
	// defaultWindow is how many tasks of internal events may wait in Redis.
	defaultWindow = 100
	// enqueueTimeout bounds making tasks after a commit: Redis must not hold up the relay.
	enqueueTimeout = 2 * time.Second
)

// relayPublic makes the deliveries of all public events there are.
func (w *Worker) relayPublic(ctx context.Context) error {
	for {
		rows, due, left, err := w.relayPublicBatch(ctx, w.room(ctx, w.deliveries)*webhooks.MaxBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		w.publicTurn.Served(rows[len(rows)-1].TenantID)
		w.metrics.relayed(kindPublic, len(rows))
		if left > 0 {
			w.deliveries.more()
		}
		if err := w.start(ctx, w.deliveries, task.DeliverWebhooks(due, w.now())); err != nil {
			// The deliveries are made; the hand-over finds them.
			w.log.InfoContext(ctx, "delivery tasks left to the hand-over", telemetry.KeyCount, len(due), telemetry.KeyError, err)
		}
		if !moreEvents(rows) {
			return nil
		}
	}
}

// relayPublicBatch makes the deliveries of a batch of events. Up to room of them are due to be
// made tasks of, the others are left.
func (w *Worker) relayPublicBatch(ctx context.Context, room int) (rows []events.Row, due []webhooks.Due, left int, err error) {
	now := w.now().UTC()
	var spans []*telemetry.Span
	defer func() { endAll(spans, err) }()
	err = postgres.InTx(ctx, w.db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		if rows, err = events.UnrelayedPublic(ctx, tx, fair.Ask{Room: relayBatch, After: w.publicTurn.Last()}); err != nil {
			return err
		}
		endAll(spans, nil) // of a run that collided
		spans = startRelays(ctx, rows)
		if due, left, err = w.webhooks.FanOut(ctx, tx, rows, room); err != nil {
			return err
		}
		return events.MarkRelayed(ctx, tx, rows, now)
	})
	return rows, due, left, err
}

// moreEvents says whether there may be more events than these: the batch is full, or a tenant's
// part of it is.
func moreEvents(rows []events.Row) bool {
	count := map[string]int{}
	most := 0
	for _, row := range rows {
		count[row.TenantID]++
		most = max(most, count[row.TenantID])
	}
	return len(count) > 0 && (len(rows) >= relayBatch || most >= relayBatch/len(count))
}

// relayInternal makes the tasks of all internal events there are, or rings for those whose work
// finds its own way. An event is marked after its task was made; while Redis is away, or has
// enough tasks, it waits.
func (w *Worker) relayInternal(ctx context.Context) error {
	types := w.internalTypes()
	for len(types) > 0 {
		rows, err := events.UnrelayedInternal(ctx, w.db, types, fair.Ask{Room: relayBatch, After: w.internalTurn.Last()})
		if err != nil || len(rows) == 0 {
			return err
		}
		w.internalTurn.Served(rows[len(rows)-1].TenantID)
		again := moreEvents(rows)
		taken, err := w.takeInternal(ctx, fair.Alternate(rows, func(row events.Row) string { return row.TenantID }))
		if markErr := events.MarkRelayed(ctx, w.db, taken, w.now().UTC()); markErr != nil {
			return markErr
		}
		w.metrics.relayed(kindInternal, len(taken))
		if err != nil || len(taken) < len(rows) || !again {
			return err
		}
	}
	return nil
}

// takeInternal does what the events ask for and returns those for which that is done.
func (w *Worker) takeInternal(ctx context.Context, rows []events.Row) (taken []events.Row, err error) {
	room := -1
	for _, row := range rows {
		if l := w.bells[row.Type]; l != nil {
			_, span := startRelay(ctx, row)
			wake(l.woken)
			span.End(nil)
			taken = append(taken, row)
			continue
		}
		if room < 0 && err == nil {
			var pending int
			pending, err = w.depths.Pending(ctx, queue.Default)
			room = max(0, defaultWindow-pending)
		}
		if room == 0 || err != nil {
			continue // bells are rung all the same
		}
		traced, span := startRelay(ctx, row)
		err = w.enqueue(traced, []queue.Task{w.taskFuncs[row.Type](row)})
		span.End(err)
		if err == nil {
			room--
			taken = append(taken, row)
		}
	}
	return taken, err
}

// start begins tasks of the lane here as long as there are places, and makes the others.
func (w *Worker) start(ctx context.Context, l *lane, tasks []queue.Task) error {
	for i := range tasks {
		begun := false
		if l.local > 0 {
			var err error
			if begun, err = w.server.TryRun(ctx, tasks[i]); err != nil {
				return err
			}
		}
		if !begun {
			return w.enqueue(ctx, tasks[i:])
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
