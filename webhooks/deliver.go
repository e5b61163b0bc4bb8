package webhooks

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// linger is how long a result waits for others to be written with it. Source: design.
	linger = 10 * time.Millisecond
	// recordTimeout bounds writing results after the task was cancelled.
	recordTimeout = 10 * time.Second
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
	if slot.release == nil {
		return nil, postpone(ctx, s.db, endpoint, ids, s.moment().Add(slot.retryIn))
	}
	defer slot.release()
	switch {
	case endpoint.limited():
		return s.drain(ctx, endpoint, ids, slot.probe)
	case slot.probe:
		return s.probe(ctx, endpoint, ids)
	}
	return s.deliverBatch(ctx, endpoint, ids)
}

// probe sends one delivery to an endpoint that could not be reached, and the others when it
// could. Without an answer they wait for the breaker.
func (s *Service) probe(ctx context.Context, endpoint Endpoint, ids []int64) (Tally, error) {
	tally := Tally{}
	for len(ids) > 0 && len(tally) == 0 {
		sent, err := s.deliverBatch(ctx, endpoint, ids[:1])
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
	sent, err := s.deliverBatch(ctx, endpoint, ids)
	tally.add(sent)
	return tally, err
}

// deliverBatch makes the next attempt of those deliveries that are due and nobody else's.
func (s *Service) deliverBatch(ctx context.Context, endpoint Endpoint, ids []int64) (Tally, error) {
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
	return s.sendAll(ctx, endpoint, claims, keys)
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

// sendAll makes claimed attempts, sendsPerCall at a time, and records them in groups as they end.
func (s *Service) sendAll(ctx context.Context, endpoint Endpoint, claims []claimed, keys keys) (Tally, error) {
	results := make(chan outcome, len(claims)) // one each, so that no sender waits for the database
	var group errgroup.Group
	group.SetLimit(sendsPerCall)
	go func() {
		for _, c := range claims {
			group.Go(func() error {
				if o, ok := s.attempt(ctx, endpoint, c, keys); ok {
					results <- o
				}
				return nil
			})
		}
		_ = group.Wait() // the senders return no errors
		close(results)
	}()
	return s.recordAll(ctx, endpoint, results)
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

// recordAll writes results until there are no more. It reads to the end also after an error.
func (s *Service) recordAll(ctx context.Context, endpoint Endpoint, results <-chan outcome) (Tally, error) {
	tally := Tally{}
	var firstErr error
	for first := range results {
		group := gather(first, results)
		// What is known is written down although the task was cancelled.
		recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		err := s.record(recording, endpoint, group)
		if err == nil {
			err = land(recording, s.db, endpoint, group)
		}
		cancel()
		if err != nil && firstErr == nil {
			firstErr = fmt.Errorf("record %d attempts: %w", len(group), err)
		}
		for _, o := range group {
			tally[o.status()]++
		}
	}
	return tally, firstErr
}

// gather takes what else comes within linger.
func gather(first outcome, results <-chan outcome) []outcome {
	group := []outcome{first}
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for {
		select {
		case next, open := <-results:
			if !open {
				return group
			}
			group = append(group, next)
		case <-timer.C:
			return group
		}
	}
}
