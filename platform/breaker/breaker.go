package breaker

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
)

// The defaults of Options. Source: decisions, Tools.
const (
	defaultFailures = 5
	defaultRatio    = 0.5
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

// Options are the rule of a breaker. Zero fields take the defaults.
type Options struct {
	// Failures in a row open a circuit. Default 5. A healthy call in between begins again.
	Failures int
	// MinCalls, when it is set, replaces Failures: a circuit opens when at least FailureRatio of at
	// least so many calls within Window failed. It is for parties of which some failures are normal.
	MinCalls int
	// FailureRatio is the share of failed calls, from above 0 to 1. Default 0.5.
	FailureRatio float64
	// Window is how long a result counts. Default 60 s.
	Window time.Duration
	// Pause is how long a circuit is open before a trial. Default 30 s.
	Pause time.Duration
}

// Breaker has a circuit for each key. Safe for concurrent use.
type Breaker struct {
	options  Options
	mu       sync.Mutex
	circuits map[string]*circuit
	pruned   time.Time // when old circuits were last dropped
}

// New makes a breaker.
func New(o Options) *Breaker { return &Breaker{options: o} }

// circuit is made at the first result of a party that counts.
type circuit struct {
	results   []results // those within Options.Window, oldest first
	openUntil time.Time // zero when closed
	trial     bool      // a trial is running
}

// results are the calls whose results were reported in one second.
type results struct {
	second        int64
	calls, failed int
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

// Refusal is the error for a call that Allow refused: unavailable, with a RetryAfter of whole
// seconds. name is that of the party, for people. Its Meta is empty, for the caller to set.
func (b *Breaker) Refusal(key, name string, now time.Time) *fault.Error {
	seconds := (b.Wait(key, now) + time.Second - 1) / time.Second
	err := fault.New(fault.ServiceUnavailable,
		"%s has failed several times in a row and is not asked for a moment; try again in %d s.", name, seconds)
	err.RetryAfter = seconds * time.Second
	return err
}

// Report records the result of a call. opened says that the circuit opened.
func (b *Breaker) Report(key string, r Result, now time.Time) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[key]
	if c == nil {
		if r == Neutral || r == Healthy && b.options.MinCalls == 0 {
			return false
		}
		c = b.add(key, now)
	}
	wasTrial := c.trial
	c.trial = false
	switch {
	case r == Neutral:
	case wasTrial && r == Healthy:
		delete(b.circuits, key)
	case wasTrial:
		c.openUntil = now.Add(b.pause())
		return true
	case !c.openUntil.IsZero(): // the result of an earlier call decides nothing
	case r == Healthy && b.options.MinCalls == 0:
		delete(b.circuits, key)
	default:
		return b.count(c, r == Failing, now)
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

// count adds a result to a closed circuit, and opens it when too many calls failed.
func (b *Breaker) count(c *circuit, failed bool, now time.Time) (opened bool) {
	second := now.Unix()
	first := now.Add(-b.window()).Unix()
	c.results = slices.DeleteFunc(c.results, func(r results) bool { return r.second < first })
	if n := len(c.results); n == 0 || c.results[n-1].second != second {
		c.results = append(c.results, results{second: second})
	}
	last := &c.results[len(c.results)-1]
	last.calls++
	if failed {
		last.failed++
	}
	var sum results
	for _, r := range c.results {
		sum.calls += r.calls
		sum.failed += r.failed
	}
	opened = sum.failed >= cmp.Or(b.options.Failures, defaultFailures)
	if b.options.MinCalls > 0 {
		opened = sum.calls >= b.options.MinCalls && float64(sum.failed) >= cmp.Or(b.options.FailureRatio, defaultRatio)*float64(sum.calls)
	}
	if opened {
		c.openUntil = now.Add(b.pause())
	}
	return opened
}

func (b *Breaker) window() time.Duration { return cmp.Or(b.options.Window, defaultWindow) }
func (b *Breaker) pause() time.Duration  { return cmp.Or(b.options.Pause, defaultPause) }

// add makes a circuit, and drops those of parties that were not called for a while.
func (b *Breaker) add(key string, now time.Time) *circuit {
	if b.circuits == nil {
		b.circuits = map[string]*circuit{}
	}
	if keep := b.window() + b.pause(); len(b.circuits) >= maxCircuits && now.Sub(b.pruned) > keep {
		b.pruned = now
		for other, old := range b.circuits {
			if n := len(old.results); n == 0 || now.Unix()-old.results[n-1].second > int64(keep.Seconds()) {
				delete(b.circuits, other)
			}
		}
	}
	c := &circuit{}
	b.circuits[key] = c
	return c
}
