package webhooks

import (
	"context"
	"errors"
	"slices"
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
	firsts, _ := s.begun.take(ids)
	endpoint, found, err := selectReceiver(ctx, s.db, id)
	if err != nil || !found || len(ids) == 0 {
		return nil, errors.Join(err, s.giveBack(ctx, firsts))
	}
	slot := s.slots.take(ctx, id)
	defer slot.giveUp()
	if slot.release == nil || slot.probe || endpoint.limited() {
		err, firsts = s.giveBack(ctx, firsts), nil
	}
	switch {
	case err != nil:
		return nil, err
	case slot.release == nil && slot.retryIn == 0: // Due passes over it until a slot is free
		return nil, unqueue(context.WithoutCancel(ctx), s.db, endpoint, ids)
	case slot.release == nil:
		return nil, postpone(ctx, s.db, endpoint, ids, s.moment().Add(slot.retryIn))
	case endpoint.limited():
		return s.drain(ctx, endpoint, ids, slot.probe)
	case slot.probe:
		return s.probe(ctx, endpoint, ids, slot.release)
	}
	return s.deliverBatch(ctx, endpoint, batch{ids: ids, firsts: firsts}, slot.release)
}

// batch is what a task sends: deliveries by their ids, of which FanOut has claimed the firsts.
type batch struct {
	ids    []int64
	firsts []first
}

// probe sends one delivery to an endpoint that could not be reached, and the others when it
// could. Without an answer they wait for the breaker.
func (s *Service) probe(ctx context.Context, endpoint Endpoint, ids []int64, release func()) (Tally, error) {
	tally := Tally{}
	for len(ids) > 0 && len(tally) == 0 {
		sent, err := s.deliverBatch(ctx, endpoint, batch{ids: ids[:1]}, func() {})
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
	sent, err := s.deliverBatch(ctx, endpoint, batch{ids: ids}, release)
	tally.add(sent)
	return tally, err
}

// deliverBatch makes the next attempt of those deliveries that are due and nobody else's. release gives
// the endpoint's slot to the next batch while this one is written down.
func (s *Service) deliverBatch(ctx context.Context, endpoint Endpoint, b batch, release func()) (Tally, error) {
	now := s.moment()
	keys, err := openKeys(ctx, s.keyring, endpoint, now)
	if err != nil {
		return nil, errors.Join(err, s.giveBack(ctx, b.firsts))
	}
	claims, err := s.claimBatch(ctx, endpoint, b, now)
	if err != nil {
		return nil, err
	}
	if len(claims) == 0 {
		return nil, s.holdUnwanted(ctx, endpoint, b.ids)
	}
	return s.sendAll(ctx, endpoint, claims, keys, release)
}

// claimBatch claims what FanOut has not.
func (s *Service) claimBatch(ctx context.Context, endpoint Endpoint, b batch, now time.Time) ([]claimed, error) {
	lease := now.Add(s.leaseFor(len(b.ids)))
	if !usable(endpoint, b.firsts, lease) {
		if err := s.giveBack(ctx, b.firsts); err != nil {
			return nil, err
		}
		b.firsts = nil
	}
	var claims []claimed
	mine := make(map[int64]bool, len(b.firsts))
	for _, one := range b.firsts {
		mine[one.DeliveryID] = true
		claims = append(claims, one.claimed)
	}
	rest := slices.DeleteFunc(slices.Clone(b.ids), func(id int64) bool { return mine[id] })
	if len(rest) == 0 {
		return claims, nil
	}
	more, err := claim(ctx, s.db, endpoint, rest, now, lease)
	if err != nil {
		return nil, errors.Join(err, s.giveBack(ctx, b.firsts))
	}
	return append(claims, more...), nil
}

// leaseFor is how long a holder of n deliveries may take before it counts as dead.
func (s *Service) leaseFor(n int) time.Duration {
	rounds := (n + sendsPerCall - 1) / sendsPerCall
	return time.Duration(rounds)*s.policy.Timeout + s.policy.LeaseMargin
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
