package worker

import (
	"context"
	"errors"
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
	relayBatch = 256
	// relayDeliveries is about how many deliveries it makes at most: other tenants' events wait for it.
	relayDeliveries = 8192
	// placePatience is how long the relay of a backlog waits for a place after one has become free.
	placePatience = 50 * time.Millisecond
	// defaultWindow is how many tasks of internal events may wait in Redis.
	defaultWindow = 100
	// enqueueTimeout bounds making tasks after a commit: Redis must not hold up the relay.
	enqueueTimeout = 2 * time.Second
)

// relayPublic makes the deliveries of all public events there are.
func (w *Worker) relayPublic(ctx context.Context) error {
	for {
		most := w.deliveries.fitting(w.fanOut)
		rows, made, err := w.relayPublicBatch(ctx, most, w.roomFor(ctx, w.deliveries))
		if err != nil || len(rows) == 0 {
			return err
		}
		w.publicTurn.Served(rows[len(rows)-1].TenantID)
		w.metrics.relayed(kindPublic, len(rows))
		if made.Left > 0 {
			w.deliveries.more()
		}
		w.deliver(ctx, made)
		if !moreEvents(rows, most) {
			return nil
		}
		w.fanOut = float64(len(made.Due)+made.Left) / float64(len(rows))
		w.awaitPlaces(ctx)
	}
}

// fitting is how many events to relay at once when each makes so many deliveries: what they make fits into half of the places
// for tasks here, so that nothing has to be found again while the other half is at work.
func (l *lane) fitting(fanOut float64) int {
	endpoints := max(1, int(math.Ceil(fanOut)))
	return min(max(1, l.halfLocal()/endpoints)*webhooks.MaxBatch, max(1, relayDeliveries/endpoints), relayBatch)
}

// awaitPlaces waits until half of the places for tasks here are free, as long as some become free.
func (w *Worker) awaitPlaces(ctx context.Context) {
	timer := time.NewTimer(placePatience)
	defer timer.Stop()
	for !w.deliveries.behind.Load() && w.server.Room() < w.deliveries.halfLocal() {
		select {
		case <-w.server.Freed():
			timer.Reset(placePatience)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// deliver makes the tasks of what was fanned out. What cannot be begun here is given back first, for
// another process would find it taken.
func (w *Worker) deliver(ctx context.Context, made webhooks.Fanned) {
	w.webhooks.Begin(made)
	tasks := task.DeliverWebhooks(made.Due, w.now())
	begun, err := w.begin(ctx, w.deliveries, tasks)
	for _, batch := range webhooks.Batches(made.Due)[begun:] {
		err = errors.Join(err, w.webhooks.GiveBack(ctx, batch))
	}
	if err == nil {
		err = w.enqueue(ctx, tasks[begun:])
	}
	if err != nil {
		// The deliveries are made; the hand-over finds them.
		w.log.InfoContext(ctx, "delivery tasks left to the hand-over", telemetry.KeyCount, len(made.Due), telemetry.KeyError, err)
	}
}

// relayPublicBatch makes the deliveries of a batch of events, so many at most.
func (w *Worker) relayPublicBatch(ctx context.Context, most int, room webhooks.Room) (rows []events.Row, made webhooks.Fanned, err error) {
	now := w.now().UTC()
	var spans []*telemetry.Span
	defer func() { endAll(spans, err) }()
	err = postgres.InTx(ctx, w.db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		if rows, err = events.UnrelayedPublic(ctx, tx, fair.Ask{Room: most, After: w.publicTurn.Last()}); err != nil {
			return err
		}
		endAll(spans, nil) // of a run that collided
		spans = startRelays(ctx, rows)
		if made, err = w.webhooks.FanOut(ctx, tx, rows, room); err != nil {
			return err
		}
		return events.MarkRelayed(ctx, tx, rows, now)
	})
	return rows, made, err
}

// moreEvents says whether there may be more events than these: the batch, of so many at most, is full, or
// a tenant's part of it is.
func moreEvents(rows []events.Row, room int) bool {
	count := map[string]int{}
	most := 0
	for _, row := range rows {
		count[row.TenantID]++
		most = max(most, count[row.TenantID])
	}
	return len(count) > 0 && (len(rows) >= room || most >= room/len(count))
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
		again := moreEvents(rows, relayBatch)
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
	begun, err := w.begin(ctx, l, tasks)
	if err != nil {
		return err
	}
	return w.enqueue(ctx, tasks[begun:])
}

// begin begins tasks of the lane here as long as there are places, and says how many those are.
func (w *Worker) begin(ctx context.Context, l *lane, tasks []queue.Task) (int, error) {
	if l.local == 0 {
		return 0, nil
	}
	for i, one := range tasks {
		if begun, err := w.server.TryRun(ctx, one); err != nil || !begun {
			return i, err
		}
	}
	return len(tasks), nil
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
