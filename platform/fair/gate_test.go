package fair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/fair"
)

// load is work of several tenants at one gate, in a bubble of synctest.
type load struct {
	t    *testing.T
	gate *fair.Gate

	mu      sync.Mutex
	inside  []*holder // in the order of admission
	refused map[string]int
	group   sync.WaitGroup
}

type holder struct {
	tenant string
	leave  func()
}

func newLoad(t *testing.T, cfg fair.Config) *load {
	return &load{t: t, gate: fair.New(cfg), refused: map[string]int{}}
}

// enter brings n pieces of work of a tenant to the gate, one after another.
func (c *load) enter(tenant string, n int) {
	for range n {
		c.group.Go(func() {
			leave, err := c.gate.Enter(c.t.Context(), tenant)
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				if fault.ReasonOf(err) != fault.ServiceUnavailable || fault.From(err).RetryAfter <= 0 {
					c.t.Errorf("%s: %v", tenant, err)
				}
				c.refused[tenant]++
				return
			}
			c.inside = append(c.inside, &holder{tenant, leave})
		})
		synctest.Wait()
	}
}

// finish ends the work that was admitted first and returns its tenant.
func (c *load) finish() string {
	c.mu.Lock()
	if len(c.inside) == 0 {
		c.mu.Unlock()
		c.t.Fatal("no work holds a slot")
	}
	first := c.inside[0]
	c.inside = c.inside[1:]
	c.mu.Unlock()
	first.leave()
	first.leave() // a second time changes nothing
	synctest.Wait()
	return first.tenant
}

func (c *load) holds(tenant string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, h := range c.inside {
		if h.tenant == tenant {
			n++
		}
	}
	return n
}

// finishAll ends all work and returns its tenants in order.
func (c *load) finishAll() []string {
	var order []string
	for running, waiting := c.gate.Count(); running+waiting > 0; running, waiting = c.gate.Count() {
		order = append(order, c.finish())
	}
	c.group.Wait()
	return order
}

func TestGreedy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newLoad(t, fair.Config{Name: "model", Slots: 4, MaxWaiting: 200})
		c.enter("greedy", 100)
		if got := c.holds("greedy"); got != 4 {
			t.Fatalf("alone it holds %d of 4 slots", got)
		}
		c.enter("small", 1)
		c.finish() // one of greedy's, which still holds its share of 3
		if c.holds("small") != 1 {
			t.Errorf("small waits behind greedy's queue")
		}
		order := c.finishAll()
		if at := slices.Index(order, "small"); at < 0 || at > 4 {
			t.Errorf("small was done as number %d, want among the first 5", at+1)
		}
		if len(order) != 100 {
			t.Errorf("%d were done, want 100", len(order))
		}
	})
}

// TestShare shows that a tenant leaves some slots free while there are others, and an hour longer.
func TestShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newLoad(t, fair.Config{Name: "tool", Slots: 8})
		c.enter("small", 1)
		c.finish()
		c.enter("greedy", 20)
		if got := c.holds("greedy"); got != 6 {
			t.Errorf("beside another it holds %d of 8 slots, want 6", got)
		}
		c.enter("small", 2)
		if got := c.holds("small"); got != 2 {
			t.Errorf("small holds %d slots, want 2 at once", got)
		}
		if full := c.gate.Full(); !slices.Contains(full, "greedy") {
			t.Errorf("full: %v", full)
		}
		c.finishAll()
		time.Sleep(61 * time.Minute) // in the bubble
		c.enter("greedy", 20)
		if got := c.holds("greedy"); got != 8 {
			t.Errorf("alone for an hour it holds %d of 8 slots", got)
		}
		c.finishAll()
	})
}

// TestSpare shows that a tenant that is alone leaves the spare slots to the next one.
func TestSpare(t *testing.T) {
	t.Parallel()
	for slots, most := range map[int]int{1: 1, 2: 1, 8: 7} {
		gate := fair.New(fair.Config{Slots: slots, Reserved: 1})
		held := 0
		for {
			if _, ok := gate.TryEnter("alone"); !ok {
				break
			}
			held++
		}
		if held != most {
			t.Errorf("of %d slots one tenant has %d, want %d", slots, held, most)
		}
		if _, ok := gate.TryEnter("late"); ok != (slots > 1) {
			t.Errorf("of %d slots who comes late gets one: %t", slots, ok)
		}
	}
}

// TestEqualParts shows that many tenants with much work get the same.
func TestEqualParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newLoad(t, fair.Config{Name: "model", Slots: 4, MaxWaiting: 1000})
		for tenant := range 10 {
			c.enter(fmt.Sprint("tenant", tenant), 30)
		}
		for range 4 {
			c.finish() // the first to come had the slots for itself
		}
		done := map[string]int{}
		for range 100 {
			done[c.finish()]++
		}
		for tenant, n := range done {
			if n < 9 || n > 11 {
				t.Errorf("%s: %d of the first 100", tenant, n)
			}
		}
		if len(done) != 10 {
			t.Errorf("%d tenants were served, want 10", len(done))
		}
		c.finishAll()
	})
}

// TestOverload shows that work of the tenant with the longest queue is refused.
func TestOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newLoad(t, fair.Config{Name: "model", Slots: 2, MaxWaiting: 10})
		c.enter("greedy", 15)
		if c.refused["greedy"] != 3 {
			t.Errorf("%d of greedy's refused, want 3", c.refused["greedy"])
		}
		c.enter("small", 4)
		if c.refused["small"] != 0 || c.refused["greedy"] != 7 {
			t.Errorf("refused: %v, want greedy 7", c.refused)
		}
		order := c.finishAll()
		if len(order) != 12 || slices.Index(order, "small") > 3 {
			t.Errorf("done: %v", order)
		}
	})
}

func TestHangUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newLoad(t, fair.Config{Name: "model", Slots: 1})
		c.enter("one", 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.gate.Enter(ctx, "two")
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if running, waiting := c.gate.Count(); running != 1 || waiting != 0 {
			t.Errorf("%d inside and %d waiting, want 1 and 0", running, waiting)
		}
		c.enter("three", 1)
		if order := c.finishAll(); !slices.Equal(order, []string{"one", "three"}) {
			t.Errorf("done: %v", order)
		}
	})
}

// TestConcurrency shows that concurrent use takes no more than the slots and gives all of them
// back.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	gate := fair.New(fair.Config{Name: "model", Slots: 3, MaxWaiting: 1000})
	var group sync.WaitGroup
	for i := range 300 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
			defer cancel()
			leave, err := gate.Enter(ctx, fmt.Sprint(i%5))
			if err != nil {
				return
			}
			if running, _ := gate.Count(); running > 3 {
				t.Errorf("%d inside", running)
			}
			leave()
		})
	}
	group.Wait()
	if running, waiting := gate.Count(); running != 0 || waiting != 0 {
		t.Errorf("%d inside and %d waiting when all have gone", running, waiting)
	}
}

func TestTryEnter(t *testing.T) {
	t.Parallel()
	gate := fair.New(fair.Config{Name: "deliver", Slots: 2, SharePercent: 50})
	gate.Expect("a", "b")
	leave, ok := gate.TryEnter("a")
	if !ok {
		t.Fatal("the first found no slot")
	}
	if _, again := gate.TryEnter("a"); again {
		t.Error("a got more than its share")
	}
	if _, other := gate.TryEnter("b"); !other {
		t.Error("b found no slot")
	}
	leave()
	if _, again := gate.TryEnter("a"); !again {
		t.Error("a found no slot after it had given one back")
	}
	var none *fair.Gate
	if _, ok := none.TryEnter("a"); !ok {
		t.Error("no gate lets everybody in")
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	metrics := fair.NewMetrics()
	gate := metrics.Gate(fair.Config{Name: "model", Slots: 1, MaxWaiting: 1})
	leave, err := gate.Enter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, family := range families {
		names = append(names, family.GetName())
		if family.GetName() == "parlance_slots_running" && family.GetMetric()[0].GetGauge().GetValue() != 1 {
			t.Errorf("running: %v", family)
		}
	}
	if got, want := strings.Join(names, " "), "parlance_slots_running parlance_slots_wait_seconds parlance_slots_waiting"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAlternate(t *testing.T) {
	t.Parallel()
	first := func(s string) string { return s[:1] }
	got := fair.Alternate([]string{"a1", "a2", "a3", "b1", "c1", "c2"}, first)
	if want := []string{"a1", "b1", "c1", "a2", "c2", "a3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
