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
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker/task"
)

// windowPerSlot is how many tasks a lane keeps in Redis for each worker of this process, so that
// none looks into an empty queue while there is more.
const windowPerSlot = 2

// lane is the way of one kind of durable work: it waits in Postgres, a small window of it in
// Redis, and is done by this process's workers of the queue. Redis serves who came first, so the
// window is all that a tenant has to wait for when others have asked for much: what goes into it
// is picked in turns (see platform/fair).
type lane struct {
	queue queue.Name
	// window is how many tasks may wait in Redis.
	window int
	// gate shares the workers of this process, of which there are slots: those that serve Redis, and
	// local ones for what was found here, which spare it the way through Redis.
	gate  *fair.Gate
	slots int
	local int
	// sparing says that no tenant gets all workers, even when it is alone. Tasks beyond what it gets
	// would be taken by the workers that are kept free, and put off.
	sparing bool
	sweeper task.Sweeper
	turn    fair.Turn
	// woken says that there may be something to hand over.
	woken chan struct{}
	// behind says that more was due than fitted, so that each task that ends makes room for another.
	behind atomic.Bool
	// away says that Redis did not answer the last time. It is used by fill only.
	away bool
}

// laneParams describe a lane.
type laneParams struct {
	queue queue.Name
	// spare of its workers are never all of one tenant.
	spare int
	// local says that this process runs its tasks at once while it has places for that.
	local   bool
	sweeper task.Sweeper
}

// newLane makes a lane for the pool that serves the queue.
func newLane(p laneParams, d Deps) *lane {
	slots, local := 1, 0
	for _, pool := range d.Pools {
		if pool.Weights[p.queue] > 0 {
			slots = pool.Concurrency
		}
	}
	if p.local {
		local = (slots + 1) / 2
	}
	return &lane{
		queue: p.queue, window: windowPerSlot * slots, slots: slots + local, local: local, sparing: p.spare > 0, sweeper: p.sweeper, woken: make(chan struct{}, 1),
		gate: d.Slots.Gate(fair.Config{Name: string(p.queue), Slots: slots + local, SharePercent: d.SharePercent, Spare: p.spare, Now: d.Now}),
	}
}

// admit takes one of the process's workers for a tenant; see task.AdmitFunc.
func (l *lane) admit(tenantID string) (leave func(), ok bool) { return l.gate.TryEnter(tenantID) }

// runs is handler, after whose end the window may have room.
func (l *lane) runs(handler queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		defer func() {
			if l.behind.Load() {
				wake(l.woken)
			}
		}()
		return handler(ctx, payload)
	}
}

// more says that work was left in Postgres.
func (l *lane) more() {
	l.behind.Store(true)
	wake(l.woken)
}

// expect has the workers of deliveries leave a part to others when more than one tenant has
// endpoints. A slow endpoint holds a worker for half a minute: too late to share by then.
func (w *Worker) expect(ctx context.Context) error {
	tenants, err := w.webhooks.Subscribers(ctx)
	if err == nil && len(tenants) > 1 {
		w.deliveries.gate.Expect(tenants...)
	}
	return err
}

// roomFor is how many tasks may be begun here, and how many may be begun or go straight into Redis,
// without waiting for their turn in Postgres: none while others wait there, and what is begun here
// when Redis is away.
func (w *Worker) roomFor(ctx context.Context, l *lane) webhooks.Room {
	if l.behind.Load() {
		return webhooks.Room{}
	}
	local := 0
	if l.local > 0 {
		local = w.server.Room()
	}
	// More than its share no tenant gets: what would be put off waits in Postgres.
	running, _ := l.gate.Count()
	_, share := l.gate.Shares()
	local = min(local, max(0, share-running))
	here := webhooks.Room{Begin: local, Tasks: local}
	if l.local > 0 && local >= l.halfLocal() {
		return here // enough, without asking Redis
	}
	pending, err := w.depths.Pending(ctx, l.queue)
	if err != nil {
		return here
	}
	all := min(local+max(0, l.room(pending)), max(0, share-running-pending))
	return webhooks.Room{Begin: min(local, all), Tasks: all}
}

// halfLocal is half of the places for tasks here, and at least one.
func (l *lane) halfLocal() int { return max(1, l.local/2) }

// room is how many tasks to hand over when so many are pending.
func (l *lane) room(pending int) int {
	if !l.sparing {
		return l.window - pending
	}
	running, _ := l.gate.Count()
	return l.slots - running - pending
}

// fill hands work over until the window is full or nothing is left that fits. A window that is
// half full is left alone: one question to Postgres then answers for several tasks.
func (w *Worker) fill(ctx context.Context, l *lane) error {
	for {
		pending, err := w.depths.Pending(ctx, l.queue)
		w.noteRedis(ctx, l, err)
		room := l.room(pending)
		if err != nil { // noted once; what cannot be begun here waits in Postgres
			room, pending = 0, 0
		}
		if l.local > 0 {
			room += w.server.Room()
		}
		if pending > l.window/2 || room <= 0 {
			l.behind.Store(err == nil)
			return nil
		}
		full := l.gate.Full()
		held, share := l.gate.Shares()
		tasks, err := l.sweeper.Due(ctx, w.now().UTC(), fair.Ask{Room: room, After: l.turn.Last(), Except: full, Share: max(1, share-pending), Held: held})
		if err != nil {
			return err
		}
		// A tenant that has its share gets more when something of it ends.
		limited := slices.ContainsFunc(slices.Collect(maps.Values(held)), func(n int) bool { return n+pending >= share })
		l.behind.Store(len(tasks) > 0 || len(full) > 0 || limited)
		if len(tasks) == 0 {
			return nil
		}
		if err := w.start(ctx, l, tasks); err != nil {
			return fmt.Errorf("hand over to queue %s: %w", l.queue, err)
		}
		l.turn.Served(tasks[len(tasks)-1].TenantID)
	}
}

// noteRedis logs when Redis goes away and when it is back.
func (w *Worker) noteRedis(ctx context.Context, l *lane, err error) {
	if away := err != nil && ctx.Err() == nil; away != l.away {
		l.away = away
		if away {
			w.log.WarnContext(ctx, "Redis does not answer; work waits in Postgres", telemetry.KeyQueue, string(l.queue), telemetry.KeyError, err)
			return
		}
		w.log.InfoContext(ctx, "Redis answers again", telemetry.KeyQueue, string(l.queue))
	}
}
