package webhooks

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Tally counts attempts by how they went; for metrics.
type Tally map[AttemptStatus]int

func (t Tally) add(other Tally) {
	for status, n := range other {
		t[status] += n
	}
}

// Deliver makes the next attempt of those deliveries to one endpoint that are due and nobody
// else's; ids are at most MaxBatch. What it does not get to, Due will offer again. When ctx
// ends, attempts without an answer stay with their lease and become unknown.
// Errors: Unavailable, or internal when outcomes could not be written.
func (s *Service) Deliver(ctx context.Context, id EndpointID, ids []int64) (Tally, error) {
	endpoint, found, err := selectReceiver(ctx, s.db, id)
	if err != nil || !found || len(ids) == 0 {
		return nil, err
	}
	slot := s.slots.take(ctx, id)
	switch {
	case slot.release == nil && slot.retryIn == 0: // Due passes over it until a slot is free
		return nil, unqueue(context.WithoutCancel(ctx), s.db, endpoint, ids)
	case slot.release == nil:
		return nil, postpone(ctx, s.db, endpoint, ids, s.moment().Add(slot.retryIn))
	}
	defer slot.release()
	switch {
	case endpoint.limited():
		return s.drain(ctx, endpoint, ids, slot.probe)
	case slot.probe:
		return s.probe(ctx, endpoint, ids, slot.release)
	}
	return s.deliverBatch(ctx, endpoint, ids, slot.release)
}

// probe sends one delivery to an endpoint that could not be reached, and the others when it
// could. Without an answer they wait for the breaker.
func (s *Service) probe(ctx context.Context, endpoint Endpoint, ids []int64, release func()) (Tally, error) {
	tally := Tally{}
	for len(ids) > 0 && len(tally) == 0 {
		sent, err := s.deliverBatch(ctx, endpoint, ids[:1], func() {})
		if err != nil {
			return sent, err
		}
		ids = ids[1:]
		tally.add(sent)
	}
	if len(ids) == 0 {
		return tally, nil
	}
	if s.slots.open(endpoint.ID) {
		return tally, postpone(ctx, s.db, endpoint, ids, s.moment().Add(breakerPause))
	}
	sent, err := s.deliverBatch(ctx, endpoint, ids, release)
	tally.add(sent)
	return tally, err
}

// deliverBatch makes the next attempt of those deliveries that are due and nobody else's. release gives
// the endpoint's slot to the next batch while this one is written down.
func (s *Service) deliverBatch(ctx context.Context, endpoint Endpoint, ids []int64, release func()) (Tally, error) {
	now := s.moment()
	keys, err := openKeys(ctx, s.keyring, endpoint, now)
	if err != nil {
		return nil, err
	}
	rounds := (len(ids) + sendsPerCall - 1) / sendsPerCall
	lease := now.Add(time.Duration(rounds)*s.policy.Timeout + s.policy.LeaseMargin)
	claims, err := claim(ctx, s.db, endpoint, ids, now, lease)
	if err != nil {
		return nil, err
	}
	if len(claims) == 0 {
		return nil, s.holdUnwanted(ctx, endpoint, ids)
	}
	return s.sendAll(ctx, endpoint, claims, keys, release)
}

// holdUnwanted is for when a task could claim nothing: mostly another was faster, but what the
// endpoint does not want must leave the schedule or Due would offer it for ever.
func (s *Service) holdUnwanted(ctx context.Context, endpoint Endpoint, ids []int64) error {
	unwanted, err := anyUnwanted(ctx, s.db, endpoint, ids)
	if err != nil || !unwanted {
		return err
	}
	return s.hold(ctx, endpoint)
}

// sendAll makes claimed attempts, sendsPerCall at a time, and has each written down as it ends. sent is
// called when all have ended, before the last are written down.
func (s *Service) sendAll(ctx context.Context, endpoint Endpoint, claims []claimed, keys keys, sent func()) (Tally, error) {
	done := &sheaf{tally: Tally{}}
	var sending errgroup.Group
	sending.SetLimit(sendsPerCall)
	s.recorder.expect(len(claims))
	for _, c := range claims {
		sending.Go(func() error {
			o, ok := s.attempt(ctx, endpoint, c, keys)
			if !ok {
				s.recorder.abandon()
				return nil
			}
			done.open.Add(1)
			s.recorder.add(result{ctx: ctx, endpoint: endpoint, outcome: o, written: func(err error) { done.written(o, err) }})
			return nil
		})
	}
	_ = sending.Wait() // the senders return no errors
	sent()
	done.open.Wait()
	return done.tally, done.err
}

// sheaf is the results of one task.
type sheaf struct {
	open  sync.WaitGroup // those that are not written down
	mu    sync.Mutex
	tally Tally
	err   error
}

func (h *sheaf) written(o outcome, err error) {
	defer h.open.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tally[o.status()]++
	if h.err == nil {
		h.err = err
	}
}

// attempt sends one claimed delivery; ok is false when it was abandoned.
func (s *Service) attempt(ctx context.Context, endpoint Endpoint, c claimed, keys keys) (o outcome, ok bool) {
	if !s.waitUntil(ctx, c.SendAt) {
		return outcome{}, false
	}
	ctx, span := begin(ctx, endpoint, c)
	defer func() { s.endAttempt(ctx, span, o, ok) }()
	a, abandoned := s.send(ctx, endpoint.URL, message{EventID: c.EventID, Type: c.EventType, Body: c.Body, At: s.now()}, keys)
	if abandoned {
		return outcome{}, false
	}
	s.slots.note(endpoint.ID, a.unreachable)
	return s.decide(c, a), true
}

// waitUntil waits for a place under max_per_second; false when ctx ended. The zero time does not wait.
func (s *Service) waitUntil(ctx context.Context, at time.Time) bool {
	if ahead := at.Sub(s.now()); !at.IsZero() && ahead > 0 {
		timer := time.NewTimer(ahead)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
