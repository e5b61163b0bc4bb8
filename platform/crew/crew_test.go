package crew_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/platform/crew"
)

// TestCrew gives work from many sides, some of it out of other work: all of it is done, and Close waits for it.
func TestCrew(t *testing.T) {
	t.Parallel()
	const givers, each = 8, 500
	var c crew.Crew
	var done atomic.Int64
	var giving sync.WaitGroup
	for range givers {
		giving.Go(func() {
			for range each {
				c.Go(func() { c.Go(func() { done.Add(1) }) })
			}
		})
	}
	giving.Wait()
	c.Close()
	// What was given by work that ran behind Close is waited for by a second one.
	c.Close()
	if got := done.Load(); got != givers*each {
		t.Errorf("%d were done, want %d", got, givers*each)
	}
}

// TestWaitingWork gives more than may be idle, none of which ends before all have begun.
func TestWaitingWork(t *testing.T) {
	t.Parallel()
	const all = 600
	var c crew.Crew
	var begun sync.WaitGroup
	for range 3 { // with fresh goroutines, then with those that stayed
		begun.Add(all)
		var ended sync.WaitGroup
		ended.Add(all)
		for range all {
			c.Go(func() {
				defer ended.Done()
				begun.Done()
				begun.Wait()
			})
		}
		ended.Wait()
	}
	c.Close()
}
