package crew

import "sync"

// maxIdle bounds the goroutines that wait for work; more are ended when theirs is done.
const maxIdle = 256

// Crew is ready as its zero value. Safe for concurrent use.
type Crew struct {
	mu sync.Mutex
	// idle are those that wait, the one that worked last at the end: it is the next to work.
	idle    []chan func()
	closed  bool
	members sync.WaitGroup
}

// Go runs work, beside its caller.
func (c *Crew) Go(work func()) {
	c.mu.Lock()
	if last := len(c.idle) - 1; last >= 0 {
		member := c.idle[last]
		c.idle[last] = nil
		c.idle = c.idle[:last]
		c.mu.Unlock()
		member <- work
		return
	}
	c.members.Add(1) // with mu held: Close waits for none that comes behind it
	c.mu.Unlock()
	go c.serve(work)
}

// serve is the life of a goroutine.
func (c *Crew) serve(work func()) {
	defer c.members.Done()
	next := make(chan func(), 1) // whoever takes it from the idle ones sends one
	for work != nil {
		work()
		if !c.wait(next) {
			return
		}
		work = <-next
	}
}

// wait puts a goroutine among the idle ones; false when it is not wanted any more.
func (c *Crew) wait(next chan func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.idle) >= maxIdle {
		return false
	}
	c.idle = append(c.idle, next)
	return true
}

// Close ends the goroutines and returns when the work that was given before is done. Work may still be given.
func (c *Crew) Close() {
	c.mu.Lock()
	idle := c.idle
	c.idle, c.closed = nil, true
	c.mu.Unlock()
	for _, member := range idle {
		close(member)
	}
	c.members.Wait()
}
