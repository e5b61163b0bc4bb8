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
	// slowAfter is how long a call may run before those behind it stop waiting for its slot.
	slowAfter = 500 * time.Millisecond
	// busyPause is how long deliveries to a busy endpoint are put off. Source: design.
	busyPause = time.Second
	// The breaker opens after breakerFailures time-outs or refused connections in a row, for
	// breakerPause. Source: decisions, Webhooks.
	breakerFailures = 5
	breakerPause    = 30 * time.Second
)

// slots keeps one endpoint from holding all workers: a slow one's deliveries are put off, a
// fast one's wait a moment. It counts for this process only.
type slots struct {
	now func() time.Time

	mu         sync.Mutex
	byEndpoint map[EndpointID]*slot
}

type slot struct {
	started []time.Time // of the running calls, oldest first
	// freed is closed, and replaced, when a call ends.
	freed       chan struct{}
	unreachable int
	openUntil   time.Time
}

func newSlots(now func() time.Time) *slots {
	return &slots{now: now, byEndpoint: map[EndpointID]*slot{}}
}

// take waits for a slot. Without one release is nil and retryIn says when to ask again.
func (s *slots) take(ctx context.Context, id EndpointID) (release func(), retryIn time.Duration) {
	for {
		release, retryIn, freed, patience := s.try(id)
		if release != nil || retryIn > 0 {
			return release, retryIn
		}
		timer := time.NewTimer(patience)
		select {
		case <-freed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, busyPause
		}
		timer.Stop()
	}
}

// try takes a slot, refuses one (retryIn), or says what to wait for and how long.
func (s *slots) try(id EndpointID) (release func(), retryIn time.Duration, freed <-chan struct{}, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	one := s.byEndpoint[id]
	if one == nil {
		one = &slot{freed: make(chan struct{})}
		s.byEndpoint[id] = one
	}
	if now.Before(one.openUntil) {
		return nil, one.openUntil.Sub(now), nil, 0
	}
	if len(one.started) < callsPerEndpoint {
		one.started = append(one.started, now)
		return sync.OnceFunc(func() { s.release(id, now) }), 0, nil, 0
	}
	age := now.Sub(one.started[0])
	if age >= slowAfter {
		return nil, busyPause, nil, 0
	}
	return nil, 0, one.freed, slowAfter - age
}

// busy lists the endpoints that would refuse a call now: those whose breaker is open, and those
// whose calls are slow.
func (s *slots) busy(now time.Time) []EndpointID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []EndpointID
	for id, one := range s.byEndpoint {
		slow := len(one.started) >= callsPerEndpoint && now.Sub(one.started[0]) >= slowAfter
		if slow || now.Before(one.openUntil) {
			ids = append(ids, id)
		}
	}
	return ids
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
	if len(one.started) == 0 && one.unreachable == 0 {
		delete(s.byEndpoint, id)
	}
}

// note tells the breaker how an attempt went; the caller holds a slot.
func (s *slots) note(id EndpointID, unreachable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byEndpoint[id]
	if !unreachable {
		one.unreachable = 0
		return
	}
	one.unreachable++
	if one.unreachable >= breakerFailures {
		one.openUntil = s.now().Add(breakerPause)
	}
}
