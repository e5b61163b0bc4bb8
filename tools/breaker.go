package tools

import (
	"slices"
	"sync"
	"time"
)

// The circuit breaker's numbers. Source: decisions, Tools.
const (
	breakerFailures = 5
	breakerWindow   = 60 * time.Second
	breakerOpen     = 30 * time.Second
)

// maxCircuits is when circuits that have nothing more to say are dropped.
const maxCircuits = 1024

// result is what a call says about its endpoint.
type result uint8

const (
	neutral result = iota // it says nothing: the caller gave up, or nothing was sent
	healthy
	failing
)

// breaker keeps calls from endpoints that fail, per tenant and host:port, on this node.
//
//	closed ──5 failures in 60 s──► open ──30 s──► one trial ──healthy──► closed
//	                                ▲───────────failing──┘
type breaker struct {
	mu       sync.Mutex
	circuits map[string]*circuit
}

// circuit exists once an endpoint has failed.
type circuit struct {
	failures  []time.Time // the last ones, at most breakerFailures
	openUntil time.Time   // zero: closed
	trial     bool        // a trial is under way
}

// allow says whether a call may go out; if so, report must be called once with what came of it.
func (b *breaker) allow(key string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key]
	if c == nil || c.openUntil.IsZero() {
		return true
	}
	if c.trial || now.Before(c.openUntil) {
		return false
	}
	c.trial = true
	return true
}

func (b *breaker) report(key string, r result, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key]
	if c == nil && r != failing {
		return
	}
	if c == nil {
		c = &circuit{}
		b.add(key, c, now)
	}
	wasTrial := c.trial
	c.trial = false
	switch {
	case r == neutral:
	case r == healthy && wasTrial:
		delete(b.circuits, key)
	case r == failing && wasTrial:
		c.openUntil = now.Add(breakerOpen)
	case r == failing:
		c.fail(now)
	}
}

// fail records a failure and opens the circuit when there were too many within the window.
func (c *circuit) fail(now time.Time) {
	c.failures = append(c.failures, now)
	if n := len(c.failures); n > breakerFailures {
		c.failures = slices.Clone(c.failures[n-breakerFailures:])
	}
	if len(c.failures) == breakerFailures && now.Sub(c.failures[0]) <= breakerWindow && c.openUntil.IsZero() {
		c.openUntil = now.Add(breakerOpen)
	}
}

func (b *breaker) add(key string, c *circuit, now time.Time) {
	if b.circuits == nil {
		b.circuits = map[string]*circuit{}
	}
	if len(b.circuits) >= maxCircuits {
		for other, old := range b.circuits {
			if len(old.failures) == 0 || now.Sub(old.failures[len(old.failures)-1]) > breakerWindow+breakerOpen {
				delete(b.circuits, other)
			}
		}
	}
	b.circuits[key] = c
}
