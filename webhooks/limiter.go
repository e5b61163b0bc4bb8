package webhooks

import (
	"context"
	"sync"
	"time"
)

const (
	// An endpoint gets at most batchesAtOnce × sendsPerBatch requests at once from a process.
	batchesAtOnce = 2
	sendsPerBatch = 16
	// idlePerHost is how many idle connections are kept for each host. Many endpoints may be on one
	// host, and a new connection costs as much as ten deliveries.
	idlePerHost = 256
	// slowAfter is the age of the oldest running batch at which other batches stop waiting for it.
	slowAfter = 500 * time.Millisecond
	// slowAfterCrowded replaces slowAfter when batchesAtOnce batches wait already, because each of
	// them holds a worker that other endpoints could use.
	slowAfterCrowded = 100 * time.Millisecond
	// busyPause is how long deliveries to a busy endpoint are postponed. Source: design.
	busyPause = time.Second
	// The breaker opens after breakerFailures time-outs or refused connections in a row, for
	// breakerPause. Source: decisions, Webhooks.
	breakerFailures = 5
	breakerPause    = 30 * time.Second
	// maxPacedTasks is how many tasks of a process may wait for the spacing of max_per_second.
	maxPacedTasks = 4
)

// limiter bounds the batches that this process sends to one endpoint at once, and has a circuit
// breaker for each endpoint, so that a slow endpoint does not hold all workers.
type limiter struct {
	now func() time.Time

	mu         sync.Mutex
	byEndpoint map[EndpointID]*endpointState
	pacedTasks int
}

// endpointState is what a process knows of an endpoint that it is calling or could not call.
type endpointState struct {
	// started holds the start times of the running batches, oldest first.
	started []time.Time
	// released is closed and replaced when a batch ends.
	released chan struct{}
	// waiting counts the tasks that wait for a running batch to end.
	waiting int
	// unreachable counts time-outs and refused connections since the last answer.
	unreachable int
	// openUntil is when the breaker stops being open. Then it is half-open: one delivery probes the
	// endpoint, until an attempt is answered.
	openUntil time.Time
	// limitedUntil is when the endpoint's own limits let a request through, as far as known.
	limitedUntil time.Time
}

func (e *endpointState) halfOpen() bool { return e.unreachable >= breakerFailures }

// permit is the answer to a task that asks to send a batch.
type permit struct {
	// release ends the batch; nil when the batch may not be sent.
	release func()
	// retryIn is when to ask again without a permit; 0: when a running batch has ended.
	retryIn time.Duration
	// probe says that one delivery has to show whether the endpoint can be reached again.
	probe bool
}

// end releases the permit if it was granted.
func (p permit) end() {
	if p.release != nil {
		p.release()
	}
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, byEndpoint: map[EndpointID]*endpointState{}}
}

// acquire asks for a permit and waits for a running batch to end when that is likely to be soon.
func (l *limiter) acquire(ctx context.Context, id EndpointID) permit {
	for {
		got, released, patience := l.try(id)
		if released == nil {
			return got
		}
		if !l.await(ctx, id, released, patience) {
			return permit{retryIn: busyPause}
		}
	}
}

// await waits until a batch of the endpoint ends or patience is over; false when ctx ended first.
func (l *limiter) await(ctx context.Context, id EndpointID, released <-chan struct{}, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	defer l.stopWaiting(id)
	select {
	case <-released:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

func (l *limiter) stopWaiting(id EndpointID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state(id).waiting--
}

// try grants a permit, refuses one, or says what to wait for and how long. When it returns a
// channel, the caller counts as waiting until stopWaiting.
func (l *limiter) try(id EndpointID) (got permit, released <-chan struct{}, patience time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	state := l.state(id)
	switch {
	case now.Before(state.openUntil):
		return permit{retryIn: state.openUntil.Sub(now)}, nil, 0
	case state.halfOpen() && len(state.started) > 0:
		return permit{retryIn: busyPause}, nil, 0
	case len(state.started) < batchesAtOnce:
		state.started = append(state.started, now)
		return permit{release: sync.OnceFunc(func() { l.release(id, now) }), probe: state.halfOpen()}, nil, 0
	}
	left := state.patience() - now.Sub(state.started[0])
	if left <= 0 {
		return permit{}, nil, 0
	}
	state.waiting++
	return permit{}, state.released, left
}

// patience is how old the oldest running batch may be for another task to wait for it.
func (e *endpointState) patience() time.Duration {
	if e.waiting >= batchesAtOnce {
		return slowAfterCrowded
	}
	return slowAfter
}

// state returns the endpoint's state. The caller holds the lock.
func (l *limiter) state(id EndpointID) *endpointState {
	state := l.byEndpoint[id]
	if state == nil {
		state = &endpointState{released: make(chan struct{})}
		l.byEndpoint[id] = state
	}
	return state
}

// unavailable lists the endpoints that would refuse a batch now: their breaker is open, their
// batches are slow, or their limits are used up.
func (l *limiter) unavailable(now time.Time) []EndpointID {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []EndpointID
	for id, state := range l.byEndpoint {
		slow := len(state.started) >= batchesAtOnce && now.Sub(state.started[0]) >= state.patience()
		probed := state.halfOpen() && len(state.started) > 0
		if slow || probed || now.Before(state.openUntil) || now.Before(state.limitedUntil) {
			ids = append(ids, id)
			continue
		}
		l.forgetIdle(id, state, now)
	}
	return ids
}

// forgetIdle drops the state of an endpoint when it holds no information. The caller holds the
// lock.
func (l *limiter) forgetIdle(id EndpointID, state *endpointState, now time.Time) {
	if len(state.started) == 0 && state.waiting == 0 && state.unreachable == 0 && !now.Before(state.limitedUntil) {
		delete(l.byEndpoint, id)
	}
}

func (l *limiter) release(id EndpointID, started time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.byEndpoint[id]
	for i, at := range state.started {
		if at.Equal(started) {
			state.started = append(state.started[:i:i], state.started[i+1:]...)
			break
		}
	}
	close(state.released)
	state.released = make(chan struct{})
	l.forgetIdle(id, state, l.now())
}

// noteReachable closes the endpoint's breaker: an attempt was answered.
func (l *limiter) noteReachable(id EndpointID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state(id)
	state.unreachable, state.openUntil = 0, time.Time{}
}

// noteUnreachable counts an attempt without an answer, and opens the breaker after enough of them.
func (l *limiter) noteUnreachable(id EndpointID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state(id)
	state.unreachable++
	if state.halfOpen() {
		state.openUntil = l.now().Add(breakerPause)
	}
}

// breakerOpen says whether the endpoint's breaker is open.
func (l *limiter) breakerOpen(id EndpointID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.byEndpoint[id]
	return state != nil && l.now().Before(state.openUntil)
}

// noteLimited makes Due skip the endpoint for d, because its own limits are used up.
func (l *limiter) noteLimited(id EndpointID, d time.Duration) {
	if d <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state(id).limitedUntil = l.now().Add(d)
}

// pace says whether a task may wait for the spacing of the endpoint's max_per_second, and returns
// how to end that. A task that waits holds a worker, so only a few may.
func (l *limiter) pace(endpoint Endpoint) (paced bool, end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if endpoint.MaxPerSecond == 0 || l.pacedTasks >= maxPacedTasks {
		return false, func() {}
	}
	l.pacedTasks++
	return true, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pacedTasks--
	}
}
