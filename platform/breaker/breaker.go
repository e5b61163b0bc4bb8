package breaker

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// The defaults of Options. Source: decisions, Tools.
const (
	defaultFailures = 5
	defaultWindow   = 60 * time.Second
	defaultPause    = 30 * time.Second
)

// maxCircuits is the number of circuits from which on old ones are dropped.
const maxCircuits = 1024

// Result is what a call says about the health of the party.
type Result uint8

// The results. Neutral says nothing: the caller gave up, or nothing was sent.
const (
	Neutral Result = iota
	Healthy
	Failing
)

// Verdict says whether a call may be made.
type Verdict uint8

// The verdicts. A Trial is the one call that decides whether an open circuit closes.
const (
	Refused Verdict = iota
	Admitted
	Trial
)

// Options are the numbers of a breaker. Zero fields take the defaults.
type Options struct {
	// Failures within Window open a circuit. Default 5 in 60 s.
	Failures int
	Window   time.Duration
	// Pause is how long a circuit is open before a trial. Default 30 s.
	Pause time.Duration
	// Consecutive resets the failures at each healthy call. It is for parties that are called so often
	// that some failures in a minute are normal.
	Consecutive bool
}

// Breaker has a circuit for each key. The zero value has the default numbers. Safe for concurrent
// use.
type Breaker struct {
	options  Options
	mu       sync.Mutex
	circuits map[string]*circuit
}

// New makes a breaker.
func New(o Options) *Breaker { return &Breaker{options: o} }

// circuit is made at the first failure of a party.
type circuit struct {
	failures  []time.Time // the latest, at most Options.Failures
	openUntil time.Time   // zero when closed
	trial     bool        // a trial is running
}

// Allow says whether a call may be made. Unless it is refused, Report must be called with its
// result.
func (b *Breaker) Allow(key string, now time.Time) Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key]
	if c == nil || c.openUntil.IsZero() {
		return Admitted
	}
	if c.trial || now.Before(c.openUntil) {
		return Refused
	}
	c.trial = true
	return Trial
}

// Wait is how long a refused caller should wait: until the next trial, at least a second.
func (b *Breaker) Wait(key string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.circuits[key]; c != nil {
		return max(time.Second, c.openUntil.Sub(now))
	}
	return time.Second
}

// Report records the result of a call. opened says that the circuit opened.
func (b *Breaker) Report(key string, r Result, now time.Time) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key]
	if c == nil && r != Failing {
		return false
	}
	if c == nil {
		c = &circuit{}
		b.add(key, c, now)
	}
	wasTrial := c.trial
	c.trial = false
	switch {
	case r == Neutral:
	case r == Healthy && (wasTrial || (b.options.Consecutive && c.openUntil.IsZero())):
		delete(b.circuits, key)
	case r == Failing && wasTrial:
		c.openUntil = now.Add(b.pause())
		return true
	case r == Failing:
		return b.fail(c, now)
	}
	return false
}

// Open is the number of open circuits.
func (b *Breaker) Open(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	open := 0
	for _, c := range b.circuits {
		if now.Before(c.openUntil) || c.trial {
			open++
		}
	}
	return open
}

// fail records a failure, and opens the circuit after too many within the window.
func (b *Breaker) fail(c *circuit, now time.Time) (opened bool) {
	most := cmp.Or(b.options.Failures, defaultFailures)
	c.failures = append(c.failures, now)
	if n := len(c.failures); n > most {
		c.failures = slices.Clone(c.failures[n-most:])
	}
	if len(c.failures) == most && now.Sub(c.failures[0]) <= b.window() && c.openUntil.IsZero() {
		c.openUntil = now.Add(b.pause())
		return true
	}
	return false
}

func (b *Breaker) window() time.Duration { return cmp.Or(b.options.Window, defaultWindow) }
func (b *Breaker) pause() time.Duration  { return cmp.Or(b.options.Pause, defaultPause) }

func (b *Breaker) add(key string, c *circuit, now time.Time) {
	if b.circuits == nil {
		b.circuits = map[string]*circuit{}
	}
	if len(b.circuits) >= maxCircuits {
		for other, old := range b.circuits {
			if len(old.failures) == 0 || now.Sub(old.failures[len(old.failures)-1]) > b.window()+b.pause() {
				delete(b.circuits, other)
			}
		}
	}
	b.circuits[key] = c
}
