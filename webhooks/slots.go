package webhooks

import (
	"context"
	"sync"
	"time"
)

const (
	// An endpoint gets at most callsPerEndpoint × sendsPerCall requests at once from a process.
	callsPerEndpoint = 2
	sendsPerCall     = 16
	// idlePerHost is how many connections to a host are kept: many endpoints may be on one, and a new
	// connection costs as much as ten deliveries.
	idlePerHost = 256
	// slowAfter is how long a call may run before those behind it stop waiting for its slot.
	slowAfter = 500 * time.Millisecond
	// crowdedAfter is slowAfter for those beyond callsPerEndpoint that wait: each holds a place that others' deliveries
	// could have.
	crowdedAfter = 100 * time.Millisecond
	// busyPause is how long deliveries to a busy endpoint are put off. Source: design.
	busyPause = time.Second
	// The breaker opens after breakerFailures time-outs or refused connections in a row, for
	// breakerPause. Source: decisions, Webhooks.
	breakerFailures = 5
	breakerPause    = 30 * time.Second
	// maxPacing is how many of a process's tasks may wait for places under max_per_second.
	maxPacing = 4
)

// slots keeps one endpoint from holding all workers: a slow one's deliveries are put off, a
// fast one's wait a moment. It counts for this process only.
type slots struct {
	now func() time.Time

	mu         sync.Mutex
	byEndpoint map[EndpointID]*slot
	pacing     int
}

type slot struct {
	started []time.Time // of the running calls, oldest first
	// freed is closed, and replaced, when a call ends.
	freed chan struct{}
	// waiting counts the tasks that wait for a running call to end.
	waiting     int
	unreachable int
	// openUntil is until when the breaker is open. After that it is half-open, and one delivery
	// tries, until an attempt gets through.
	openUntil time.Time
	// pausedUntil is until when the endpoint's limits let nothing through, as far as is known.
	pausedUntil time.Time
}

func (s *slot) halfOpen() bool { return s.unreachable >= breakerFailures }

// grant is a slot, or when to ask again.
type grant struct {
	// release gives the slot back; nil: there is none.
	release func()
	// retryIn is when to ask again; 0: when a running call has ended.
	retryIn time.Duration
	// probe: one delivery has to show whether the endpoint can be reached again.
	probe bool
}

// giveUp is release when there is something to release.
func (g grant) giveUp() {
	if g.release != nil {
		g.release()
	}
}

func newSlots(now func() time.Time) *slots {
	return &slots{now: now, byEndpoint: map[EndpointID]*slot{}}
}

// take waits for a slot. Without one the grant says when to ask again.
func (s *slots) take(ctx context.Context, id EndpointID) grant {
	for {
		got, freed, patience := s.try(id)
		if freed == nil {
			return got
		}
		if !s.await(ctx, id, freed, patience) {
			return grant{retryIn: busyPause}
		}
	}
}

// await waits for one of the endpoint's calls to end, with patience; false: ctx has ended.
func (s *slots) await(ctx context.Context, id EndpointID, freed <-chan struct{}, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	defer s.wait(id, -1)
	select {
	case <-freed:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// wait counts who waits.
func (s *slots) wait(id EndpointID, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slot(id).waiting += more
}

// try takes a slot, refuses one, or says what to wait for and how long.
func (s *slots) try(id EndpointID) (got grant, freed <-chan struct{}, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	one := s.slot(id)
	switch {
	case now.Before(one.openUntil):
		return grant{retryIn: one.openUntil.Sub(now)}, nil, 0
	case one.halfOpen() && len(one.started) > 0:
		return grant{retryIn: busyPause}, nil, 0
	case len(one.started) < callsPerEndpoint:
		one.started = append(one.started, now)
		return grant{release: sync.OnceFunc(func() { s.release(id, now) }), probe: one.halfOpen()}, nil, 0
	}
	left := one.patience() - now.Sub(one.started[0])
	if left <= 0 {
		return grant{}, nil, 0
	}
	one.waiting++ // until await returns
	return grant{}, one.freed, left
}

// patience is how long calls may have run for one more to wait for them.
func (s *slot) patience() time.Duration {
	if s.waiting >= callsPerEndpoint {
		return crowdedAfter
	}
	return slowAfter
}

// slot is the endpoint's; the caller holds the lock.
func (s *slots) slot(id EndpointID) *slot {
	one := s.byEndpoint[id]
	if one == nil {
		one = &slot{freed: make(chan struct{})}
		s.byEndpoint[id] = one
	}
	return one
}

// busy lists the endpoints that would refuse a call now: those whose breaker is open, those whose
// calls are slow, and those whose limits are used up.
func (s *slots) busy(now time.Time) []EndpointID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []EndpointID
	for id, one := range s.byEndpoint {
		slow := len(one.started) >= callsPerEndpoint && now.Sub(one.started[0]) >= one.patience()
		probed := one.halfOpen() && len(one.started) > 0
		if slow || probed || now.Before(one.openUntil) || now.Before(one.pausedUntil) {
			ids = append(ids, id)
			continue
		}
		s.forget(id, one, now)
	}
	return ids
}

// forget drops what says nothing any more.
func (s *slots) forget(id EndpointID, one *slot, now time.Time) {
	if len(one.started) == 0 && one.waiting == 0 && one.unreachable == 0 && !now.Before(one.pausedUntil) {
		delete(s.byEndpoint, id)
	}
}

func (s *slots) release(id EndpointID, started time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byEndpoint[id]
	for i, at := range one.started {
		if at.Equal(started) {
			one.started = append(one.started[:i:i], one.started[i+1:]...)
			break
		}
	}
	close(one.freed)
	one.freed = make(chan struct{})
	s.forget(id, one, s.now())
}

// note tells the breaker how an attempt went; the caller holds a slot.
func (s *slots) note(id EndpointID, unreachable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.slot(id)
	if !unreachable {
		one.unreachable, one.openUntil = 0, time.Time{}
		return
	}
	one.unreachable++
	if one.halfOpen() {
		one.openUntil = s.now().Add(breakerPause)
	}
}

// open says whether the endpoint's breaker is open.
func (s *slots) open(id EndpointID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byEndpoint[id]
	return one != nil && s.now().Before(one.openUntil)
}

// pause has Due pass over an endpoint whose limits let nothing through.
func (s *slots) pause(id EndpointID, d time.Duration) {
	if d <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slot(id).pausedUntil = s.now().Add(d)
}

// pace says whether a task may wait for places under the endpoint's max_per_second: it holds a
// worker meanwhile, of which others need most.
func (s *slots) pace(endpoint Endpoint) (paced bool, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if endpoint.MaxPerSecond == 0 || s.pacing >= maxPacing {
		return false, func() {}
	}
	s.pacing++
	return true, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pacing--
	}
}
