package worker

import (
	"context"
	"fmt"
	"math"
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
	// relayBatch is how many events one transaction relays at most.
	relayBatch = 512
	// relayDeliveries is about how many deliveries one transaction makes at most, because other
	// tenants' events wait for it.
	relayDeliveries = 8192
	// roomPatience is how long the relay of a backlog waits for the next task to end.
	roomPatience = 50 * time.Millisecond
	// defaultWindow is how many tasks of internal events may wait in Redis.
	defaultWindow = 100
	// enqueueTimeout bounds making tasks after a commit: Redis must not hold up the relay.
	enqueueTimeout = 2 * time.Second
)

// relayPublic makes the deliveries of all public events that are not relayed.
func (w *Worker) relayPublic(ctx context.Context) error {
	for {
		most := w.eventsAtOnce()
		rows, made, err := w.relayPublicBatch(ctx, most)
		if err != nil || len(rows) == 0 {
			return err
		}
		w.lastPublic = rows[len(rows)-1].TenantID
		w.metrics.relayed(kindPublic, len(rows))
		if made.Waiting > 0 {
			w.deliveries.noteBacklog()
		}
		if err := w.enqueue(ctx, task.DeliverWebhooks(made.Queued, w.now())); err != nil {
			w.log.InfoContext(ctx, "delivery tasks not made; the dispatcher makes them later",
				telemetry.KeyCount, len(made.Queued), telemetry.KeyError, err)
		}
		if !moreEvents(rows, most) {
			return nil
		}
		w.deliveriesPerEvent = float64(len(made.Queued)+made.Waiting) / float64(len(rows))
		w.awaitDirectRoom(ctx)
	}
}

// eventsAtOnce is how many events to relay in one transaction: about so many that their deliveries
// fit into half of the tasks which the relay makes directly. The dispatcher would have to find and
// mark the others again, which costs as much as making them.
func (w *Worker) eventsAtOnce() int {
	perEvent := max(1, int(math.Ceil(w.deliveriesPerEvent)))
	direct := max(1, w.deliveries.window/2/perEvent) * webhooks.MaxBatch
	return min(direct, max(1, relayDeliveries/perEvent), relayBatch)
}

// awaitDirectRoom waits until half of the tasks that the relay makes directly have ended, as long
// as some of them end.
func (w *Worker) awaitDirectRoom(ctx context.Context) {
	d := w.deliveries
	timer := time.NewTimer(roomPatience)
	defer timer.Stop()
	for !d.backlogged.Load() && w.directRoom(d) < d.window/2 {
		select {
		case <-d.ended:
			timer.Reset(roomPatience)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// relayPublicBatch makes the deliveries of at most so many events.
func (w *Worker) relayPublicBatch(ctx context.Context, most int) (rows []events.Row, made webhooks.FannedOut, err error) {
	now, room := w.now().UTC(), w.directRoom(w.deliveries)
	var spans []*telemetry.Span
	defer func() { endAll(spans, err) }()
	err = postgres.InTx(ctx, w.db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		if rows, err = events.UnrelayedPublic(ctx, tx, fair.Ask{Room: most, After: w.lastPublic}); err != nil {
			return err
		}
		endAll(spans, nil) // of a run that collided
		spans = startRelays(ctx, rows)
		if made, err = w.deps.Webhooks.FanOut(ctx, tx, rows, room); err != nil {
			return err
		}
		return events.MarkRelayed(ctx, tx, rows, now)
	})
	return rows, made, err
}

// moreEvents says whether there may be more events behind these: the batch, of at most room, is
// full, or a tenant's part of it is.
func moreEvents(rows []events.Row, room int) bool {
	count := map[string]int{}
	most := 0
	for _, row := range rows {
		count[row.TenantID]++
		most = max(most, count[row.TenantID])
	}
	return len(count) > 0 && (len(rows) >= room || most >= room/len(count))
}

// relayInternal makes the tasks of all internal events that are not relayed, or wakes the
// dispatcher of their work. An event is marked after its task was made; while Redis is away, or has
// enough tasks, it waits.
func (w *Worker) relayInternal(ctx context.Context) error {
	types := w.internalTypes()
	for len(types) > 0 {
		rows, err := events.UnrelayedInternal(ctx, w.db, types, fair.Ask{Room: relayBatch, After: w.lastInternal})
		if err != nil || len(rows) == 0 {
			return err
		}
		w.lastInternal = rows[len(rows)-1].TenantID
		more := moreEvents(rows, relayBatch)
		relayed, err := w.relayInternalBatch(ctx, fair.Alternate(rows, func(row events.Row) string { return row.TenantID }))
		if markErr := events.MarkRelayed(ctx, w.db, relayed, w.now().UTC()); markErr != nil {
			return markErr
		}
		w.metrics.relayed(kindInternal, len(relayed))
		if err != nil || len(relayed) < len(rows) || !more {
			return err
		}
	}
	return nil
}

// relayInternalBatch does what the events ask for and returns those for which that succeeded.
func (w *Worker) relayInternalBatch(ctx context.Context, rows []events.Row) (relayed []events.Row, err error) {
	room := -1 // not known yet
	for _, row := range rows {
		if d := w.dispatchers[row.Type]; d != nil {
			_, span := startRelay(ctx, row)
			wake(d.woken)
			span.End(nil)
			relayed = append(relayed, row)
			continue
		}
		if room < 0 && err == nil {
			var pending int
			pending, err = queue.Pending(w.redis, queue.Default)
			room = max(0, defaultWindow-pending)
		}
		if room == 0 || err != nil {
			continue // dispatchers are woken all the same
		}
		traced, span := startRelay(ctx, row)
		err = w.enqueue(traced, []queue.Task{w.taskFuncs[row.Type](row)})
		span.End(err)
		if err == nil {
			room--
			relayed = append(relayed, row)
		}
	}
	return relayed, err
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
