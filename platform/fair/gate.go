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
	// defaultSharePercent leaves a quarter to whoever comes next.
	defaultSharePercent = 75
	// waitersPerSlot bounds the lines of a gate: with work of a second each, who is last waits about eight.
	waitersPerSlot = 8
	// company is how long a tenant that was seen counts as one that may come again.
	company = time.Hour
	// retryAfter is what who was refused is told.
	retryAfter = 2 * time.Second
)

// Config configures a Gate.
type Config struct {
	// Name is the queue's, for metrics: "model", "tool", "deliver".
	Name string
	// Slots is how much is done at once; at least 1.
	Slots int
	// SharePercent of the slots, rounded up, is what one tenant gets while there are others; 1 to
	// 100, 0 means 75.
	SharePercent int
	// Spare is how many slots no tenant gets even when it is alone, for work that takes long: who
	// comes meanwhile finds them free. One tenant always gets one slot.
	Spare int
	// MaxWaiting bounds who waits, over all tenants; 0 means 8 a slot.
	MaxWaiting int
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Metrics may be nil.
	Metrics *Metrics
}

// Gate lets so many in at once and shares the places between tenants. Safe for concurrent use.
type Gate struct {
	cfg   Config
	share int
	// most is the share of who is alone.
	most int

	mu      sync.Mutex
	running int
	holds   map[string]int // slots by tenant
	waiting int
	lines   map[string][]*waiter
	ring    []string // the tenants that wait, next first
	// last and before are the two tenants seen last, and when.
	last, before seen
}

type seen struct {
	tenant string
	at     time.Time
}

// waiter is one who waits. admitted is closed when it may go on or, with refused set, must go.
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
	most := max(cfg.Slots-cfg.Spare, 1)
	share := min((cfg.Slots*cfg.SharePercent+99)/100, most)
	return &Gate{cfg: cfg, share: share, most: most, holds: map[string]int{}, lines: map[string][]*waiter{}}
}

// Enter waits for a slot of the tenant's and returns how to give it back, which may be done more
// than once. A nil gate lets everybody in.
// Errors: Unavailable unavailable when too many wait, ctx's.
func (g *Gate) Enter(ctx context.Context, tenant string) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	began := g.cfg.Now()
	w := g.admit(tenant)
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
		<-w.admitted // somebody was faster
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

// TryEnter is Enter for work that can wait elsewhere: without a slot ok is false, at once. Those
// who wait in Enter come first.
func (g *Gate) TryEnter(tenant string) (leave func(), ok bool) {
	if g == nil {
		return func() {}, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.see(tenant)
	if !g.free(tenant) || len(g.lines[tenant]) > 0 {
		return nil, false
	}
	g.take(tenant)
	return g.leaver(tenant), true
}

// Expect says that the tenants may come any time, as if they had just been seen: work that takes
// long must leave them a slot before they come.
func (g *Gate) Expect(tenants ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, tenant := range tenants {
		g.see(tenant)
	}
}

// Full lists the tenants for which there is no slot now.
func (g *Gate) Full() []string {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var full []string
	for tenant := range g.holds {
		if !g.free(tenant) {
			full = append(full, tenant)
		}
	}
	return full
}

// Shares says how many slots each tenant holds, and how many one may have now.
func (g *Gate) Shares() (held map[string]int, share int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	share = g.share
	if g.before.tenant == "" || g.cfg.Now().Sub(g.before.at) > company {
		share = g.most
	}
	return maps.Clone(g.holds), share
}

// Count says how many are inside and how many wait.
func (g *Gate) Count() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, g.waiting
}

// admit takes a slot (nil) or a place in the line.
func (g *Gate) admit(tenant string) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.see(tenant)
	if g.free(tenant) && len(g.lines[tenant]) == 0 {
		g.take(tenant)
		return nil
	}
	w := &waiter{admitted: make(chan struct{})}
	if len(g.lines[tenant]) == 0 {
		g.ring = append(g.ring, tenant)
	}
	g.lines[tenant] = append(g.lines[tenant], w)
	g.waiting++
	if g.waiting > g.cfg.MaxWaiting {
		g.refuseLongest(tenant)
	}
	return w
}

// refuseLongest sends the last of the longest line away; of equal lines the newcomer's.
func (g *Gate) refuseLongest(newcomer string) {
	longest := newcomer
	for tenant, line := range g.lines {
		if len(line) > len(g.lines[longest]) {
			longest = tenant
		}
	}
	line := g.lines[longest]
	w := line[len(line)-1]
	g.drop(longest, len(line)-1)
	w.refused = true
	close(w.admitted)
	g.cfg.Metrics.refuse(g.cfg.Name)
}

// withdraw takes a waiter out of its line; false when it is in none any more.
func (g *Gate) withdraw(tenant string, w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.lines[tenant], w)
	if i < 0 {
		return false
	}
	g.drop(tenant, i)
	return true
}

// drop takes place i out of a tenant's line.
func (g *Gate) drop(tenant string, i int) {
	g.waiting--
	g.lines[tenant] = slices.Delete(g.lines[tenant], i, i+1)
	if len(g.lines[tenant]) > 0 {
		return
	}
	delete(g.lines, tenant)
	if at := slices.Index(g.ring, tenant); at >= 0 {
		g.ring = slices.Delete(g.ring, at, at+1)
	}
}

func (g *Gate) leaver(tenant string) func() { return sync.OnceFunc(func() { g.leave(tenant) }) }

// leave gives a slot back and lets in whoever is next.
func (g *Gate) leave(tenant string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if g.holds[tenant]--; g.holds[tenant] == 0 {
		delete(g.holds, tenant)
	}
	for g.serve() {
	}
}

// serve lets in the first of the first line that may have a slot; that tenant is last in turn then.
func (g *Gate) serve() bool {
	for at, tenant := range g.ring {
		if !g.free(tenant) {
			continue
		}
		w := g.lines[tenant][0]
		g.ring = append(slices.Delete(g.ring, at, at+1), tenant)
		g.drop(tenant, 0)
		g.take(tenant)
		close(w.admitted)
		return true
	}
	return false
}

func (g *Gate) take(tenant string) {
	g.running++
	g.holds[tenant]++
}

// free says whether the tenant may have one more slot now.
func (g *Gate) free(tenant string) bool {
	if g.running >= g.cfg.Slots {
		return false
	}
	return g.holds[tenant] < g.share || g.holds[tenant] < g.most && g.alone(tenant)
}

// see remembers that the tenant is about.
func (g *Gate) see(tenant string) {
	if g.last.tenant != tenant {
		g.before = g.last
	}
	g.last = seen{tenant: tenant, at: g.cfg.Now()}
}

// alone says whether no other tenant has been seen lately.
func (g *Gate) alone(tenant string) bool {
	other := g.last
	if other.tenant == tenant {
		other = g.before
	}
	return other.tenant == "" || g.cfg.Now().Sub(other.at) > company
}

func (g *Gate) overloaded() error {
	err := fault.New(fault.ServiceUnavailable, "Too much waits to be done already. Try again in a moment.")
	err.RetryAfter = retryAfter
	return err
}
