package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/worker/task"
)

// windowPerWorker is how many tasks a dispatcher keeps in Redis for each worker of its pool, so
// that no worker finds an empty queue while there is more work.
const windowPerWorker = 2

// dispatcher makes tasks of one kind of due work, which waits in Postgres. Redis serves tasks in
// the order they were made, so the dispatcher keeps only a small window of them there, and fills it
// from all tenants in round robin: a tenant waits for the window and not for others' backlogs.
type dispatcher struct {
	queue queue.Name
	// window is how many tasks may wait in Redis.
	window int
	// workers is the size of the pool that serves the queue, gate shares it between tenants.
	workers int
	gate    *fair.Gate
	// hasReserve says that no tenant gets all workers, even when it is alone. The window is then what
	// the workers can take at once: a reserved worker would take a further task only to reschedule it.
	hasReserve bool
	finder     task.Finder
	// lastServed is the tenant that was served last. Only dispatch uses it.
	lastServed string
	// woken has a value when there may be something to dispatch, ended when a task has ended.
	woken, ended chan struct{}
	// backlogged says that more work was due than fitted, so that each task that ends makes room.
	backlogged atomic.Bool
	// redisAway says that Redis did not answer the last time. Only dispatch uses it.
	redisAway bool
}

// dispatcherParams describe a dispatcher.
type dispatcherParams struct {
	queue queue.Name
	// reserved workers are never used by one tenant alone.
	reserved int
	finder   task.Finder
}

// newDispatcher makes a dispatcher for the pool that serves the queue.
func newDispatcher(p dispatcherParams, d Deps) *dispatcher {
	workers := 1
	for _, pool := range d.Pools {
		if pool.Weights[p.queue] > 0 {
			workers = pool.Concurrency
		}
	}
	return &dispatcher{
		queue: p.queue, window: windowPerWorker * workers, workers: workers, hasReserve: p.reserved > 0, finder: p.finder,
		woken: make(chan struct{}, 1), ended: make(chan struct{}, 1),
		gate: d.Slots.Gate(fair.Config{Name: string(p.queue), Slots: workers, SharePercent: d.SharePercent, Reserved: p.reserved, Now: d.Now}),
	}
}

// admit takes one of the process's workers for a tenant; see task.AdmitFunc.
func (d *dispatcher) admit(tenantID string) (leave func(), ok bool) { return d.gate.TryEnter(tenantID) }

// wrap returns a handler that signals the end of its tasks, and wakes the dispatcher when more work
// is due.
func (d *dispatcher) wrap(handler queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		defer func() {
			wake(d.ended)
			if d.backlogged.Load() {
				wake(d.woken)
			}
		}()
		return handler(ctx, payload)
	}
}

// noteBacklog says that work was left in Postgres.
func (d *dispatcher) noteBacklog() {
	d.backlogged.Store(true)
	wake(d.woken)
}

// room is how many tasks may be made when so many are pending.
func (d *dispatcher) room(pending int) int {
	if !d.hasReserve {
		return d.window - pending
	}
	running, _ := d.gate.Count()
	return d.workers - running - pending
}

// directRoom is how many tasks the relay may make of new work now: none while other work waits in
// Postgres or Redis does not answer, and no more than the share of one tenant.
func (w *Worker) directRoom(d *dispatcher) int {
	if d.backlogged.Load() {
		return 0
	}
	pending, err := queue.Pending(w.redis, d.queue)
	if err != nil {
		return 0
	}
	running, _ := d.gate.Count()
	_, share := d.gate.Shares()
	return max(0, min(d.window, windowPerWorker*share)-running-pending)
}

// dispatch makes tasks until the window is full or nothing more is due. It leaves a window that is
// half full alone, so that one query finds the work of several tasks.
func (w *Worker) dispatch(ctx context.Context, d *dispatcher) error {
	for {
		pending, err := queue.Pending(w.redis, d.queue)
		w.noteRedis(ctx, d, err)
		if err != nil {
			return nil //nolint:nilerr // logged once; the work waits in Postgres
		}
		room := d.room(pending)
		if pending > d.window/2 || room <= 0 {
			d.backlogged.Store(true)
			return nil
		}
		full := d.gate.Full()
		held, share := d.gate.Shares()
		ask := fair.Ask{Room: room, After: d.lastServed, Except: full, Share: max(1, share-pending), Held: held}
		tasks, err := d.finder.Due(ctx, w.now().UTC(), ask)
		if err != nil {
			return err
		}
		// A tenant that has its share gets more when one of its tasks ends.
		limited := slices.ContainsFunc(slices.Collect(maps.Values(held)), func(n int) bool { return n+pending >= share })
		d.backlogged.Store(len(tasks) > 0 || len(full) > 0 || limited)
		if len(tasks) == 0 {
			return nil
		}
		if err := w.enqueue(ctx, tasks); err != nil {
			return fmt.Errorf("dispatch to queue %s: %w", d.queue, err)
		}
		d.lastServed = tasks[len(tasks)-1].TenantID
	}
}

// noteRedis logs when Redis stops answering and when it answers again.
func (w *Worker) noteRedis(ctx context.Context, d *dispatcher, err error) {
	away := err != nil && ctx.Err() == nil
	if away == d.redisAway {
		return
	}
	d.redisAway = away
	if away {
		w.log.WarnContext(ctx, "Redis does not answer; work waits in Postgres", telemetry.KeyQueue, string(d.queue), telemetry.KeyError, err)
		return
	}
	w.log.InfoContext(ctx, "Redis answers again", telemetry.KeyQueue, string(d.queue))
}
