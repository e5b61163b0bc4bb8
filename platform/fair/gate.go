package fair

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
)

const (
	// defaultSharePercent leaves a quarter of the slots to the next tenant.
	defaultSharePercent = 75
	// waitersPerSlot bounds the queues of a gate: with work of a second each, the last waits about
	// eight seconds.
	waitersPerSlot = 8
	// presence is how long a tenant counts as present after it was seen.
	presence = time.Hour
	// retryAfter is the Retry-After of a refusal.
	retryAfter = 2 * time.Second
)

// Config configures a Gate.
type Config struct {
	// Name is the queue's, for metrics: "model", "tool", "deliver".
	Name string
	// Slots is how much work runs at once; at least 1.
	Slots int
	// SharePercent of the slots, rounded up, is what one tenant gets while there are others; 1 to
	// 100, 0 means 75.
	SharePercent int
	// Reserved is how many slots no tenant gets, even when it is alone. It is for work that takes
	// long: a tenant that comes meanwhile finds a free slot. One tenant always gets one slot.
	Reserved int
	// MaxWaiting bounds the waiters of all tenants; 0 means 8 a slot.
	MaxWaiting int
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Metrics may be nil.
	Metrics *Metrics
}

// Gate is a semaphore whose slots are shared between tenants. Safe for concurrent use.
type Gate struct {
	cfg Config
	// share is how many slots a tenant gets while there are others, shareAlone while there are
	// none.
	share, shareAlone int

	mu      sync.Mutex
	running int
	held    map[string]int // slots by tenant
	waiting int
	queues  map[string][]*waiter // by tenant
	order   []string             // the tenants with waiters; the next one to serve is the first
	// latest and previous are the two tenants seen last.
	latest, previous seen
}

// seen is when a tenant asked for a slot.
type seen struct {
	tenant string
	at     time.Time
}

// waiter waits for a slot. admitted is closed when it has one or, with refused set, gets none.
type waiter struct {
	admitted chan struct{}
	refused  bool
}

// New makes a gate.
func New(cfg Config) *Gate {
	cfg.Slots = max(cfg.Slots, 1)
	if cfg.SharePercent <= 0 || cfg.SharePercent > 100 {
		cfg.SharePercent = defaultSharePercent
	}
	if cfg.MaxWaiting == 0 {
		cfg.MaxWaiting = cfg.Slots * waitersPerSlot
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	alone := max(cfg.Slots-cfg.Reserved, 1)
	share := min((cfg.Slots*cfg.SharePercent+99)/100, alone)
	return &Gate{cfg: cfg, share: share, shareAlone: alone, held: map[string]int{}, queues: map[string][]*waiter{}}
}

// Enter waits for a slot and returns how to release it, which may be called more than once. A nil
// gate has no limit.
// Errors: Unavailable unavailable when too many wait, ctx's.
func (g *Gate) Enter(ctx context.Context, tenant string) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	began := g.cfg.Now()
	w := g.takeOrWait(tenant)
	if w == nil {
		g.cfg.Metrics.waited(g.cfg.Name, 0)
		return g.leaver(tenant), nil
	}
	select {
	case <-w.admitted:
	case <-ctx.Done():
		if g.withdraw(tenant, w) {
			return nil, ctx.Err()
		}
		<-w.admitted // it was admitted or refused meanwhile
		if !w.refused {
			g.leave(tenant)
		}
		return nil, ctx.Err()
	}
	if w.refused {
		return nil, g.overloaded()
	}
	g.cfg.Metrics.waited(g.cfg.Name, g.cfg.Now().Sub(began))
	return g.leaver(tenant), nil
}

// TryEnter is Enter for work that can wait elsewhere: it does not wait. Waiters in Enter come
// first.
func (g *Gate) TryEnter(tenant string) (leave func(), ok bool) {
	if g == nil {
		return func() {}, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.see(tenant)
	if !g.free(tenant) || len(g.queues[tenant]) > 0 {
		return nil, false
	}
	g.take(tenant)
	return g.leaver(tenant), true
}

// Expect makes tenants count as seen now. Work that takes long must leave them a slot before they
// come.
func (g *Gate) Expect(tenants ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, tenant := range tenants {
		g.see(tenant)
	}
}

// Full lists the tenants that hold slots and get no further one now.
func (g *Gate) Full() []string {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var full []string
	for tenant := range g.held {
		if !g.free(tenant) {
			full = append(full, tenant)
		}
	}
	return full
}

// Shares returns the slots each tenant holds, and how many a tenant may hold now.
func (g *Gate) Shares() (held map[string]int, share int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	share = g.share
	if g.previous.tenant == "" || g.cfg.Now().Sub(g.previous.at) > presence {
		share = g.shareAlone
	}
	return maps.Clone(g.held), share
}

// Count returns how many slots are taken and how many waiters there are.
func (g *Gate) Count() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, g.waiting
}

// takeOrWait takes a slot and returns nil, or queues a waiter.
func (g *Gate) takeOrWait(tenant string) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.see(tenant)
	if g.free(tenant) && len(g.queues[tenant]) == 0 {
		g.take(tenant)
		return nil
	}
	w := &waiter{admitted: make(chan struct{})}
	if len(g.queues[tenant]) == 0 {
		g.order = append(g.order, tenant)
	}
	g.queues[tenant] = append(g.queues[tenant], w)
	g.waiting++
	if g.waiting > g.cfg.MaxWaiting {
		g.refuseLongest(tenant)
	}
	return w
}

// refuseLongest refuses the last waiter of the longest queue; of equal queues the newcomer's.
func (g *Gate) refuseLongest(newcomer string) {
	longest := newcomer
	for tenant, queue := range g.queues {
		if len(queue) > len(g.queues[longest]) {
			longest = tenant
		}
	}
	queue := g.queues[longest]
	w := queue[len(queue)-1]
	g.dequeue(longest, len(queue)-1)
	w.refused = true
	close(w.admitted)
	g.cfg.Metrics.refuse(g.cfg.Name)
}

// withdraw removes a waiter from its queue; false when it is not there any more.
func (g *Gate) withdraw(tenant string, w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.queues[tenant], w)
	if i < 0 {
		return false
	}
	g.dequeue(tenant, i)
	return true
}

// dequeue removes the waiter at index i of a tenant's queue.
func (g *Gate) dequeue(tenant string, i int) {
	g.waiting--
	g.queues[tenant] = slices.Delete(g.queues[tenant], i, i+1)
	if len(g.queues[tenant]) > 0 {
		return
	}
	delete(g.queues, tenant)
	if at := slices.Index(g.order, tenant); at >= 0 {
		g.order = slices.Delete(g.order, at, at+1)
	}
}

func (g *Gate) leaver(tenant string) func() { return sync.OnceFunc(func() { g.leave(tenant) }) }

// leave releases a slot and serves waiters.
func (g *Gate) leave(tenant string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if g.held[tenant]--; g.held[tenant] == 0 {
		delete(g.held, tenant)
	}
	for g.serve() {
	}
}

// serve admits the first waiter of the first tenant that may have a slot, which is last in the
// order then; false when there is none.
func (g *Gate) serve() bool {
	for at, tenant := range g.order {
		if !g.free(tenant) {
			continue
		}
		w := g.queues[tenant][0]
		g.order = append(slices.Delete(g.order, at, at+1), tenant)
		g.dequeue(tenant, 0)
		g.take(tenant)
		close(w.admitted)
		return true
	}
	return false
}

func (g *Gate) take(tenant string) {
	g.running++
	g.held[tenant]++
}

// free says whether the tenant may have one more slot now.
func (g *Gate) free(tenant string) bool {
	if g.running >= g.cfg.Slots {
		return false
	}
	return g.held[tenant] < g.share || g.held[tenant] < g.shareAlone && g.alone(tenant)
}

func (g *Gate) see(tenant string) {
	if g.latest.tenant != tenant {
		g.previous = g.latest
	}
	g.latest = seen{tenant: tenant, at: g.cfg.Now()}
}

// alone says whether no other tenant is present.
func (g *Gate) alone(tenant string) bool {
	other := g.latest
	if other.tenant == tenant {
		other = g.previous
	}
	return other.tenant == "" || g.cfg.Now().Sub(other.at) > presence
}

func (g *Gate) overloaded() error {
	err := fault.New(fault.ServiceUnavailable, "Too much waits to be done already. Try again in a moment.")
	err.RetryAfter = retryAfter
	return err
}
