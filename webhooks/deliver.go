package webhooks

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
)

// Tally counts attempts by their status, for metrics.
type Tally map[AttemptStatus]int

func (t Tally) add(other Tally) {
	for status, n := range other {
		t[status] += n
	}
}

// Deliver makes the next attempt of those deliveries of a batch that are due and not claimed by
// another worker. Deliveries that it does not claim stay pending, and Due returns them again. When
// ctx ends, attempts without an answer keep their lease and become unknown.
// Errors: Unavailable, or internal when results could not be written.
func (s *Service) Deliver(ctx context.Context, batch Batch) (Tally, error) {
	ids := batch.IDs
	endpoint, found, err := selectReceiver(ctx, s.db, batch.TenantID, batch.EndpointID)
	if err != nil || !found || len(ids) == 0 {
		return nil, err
	}
	permit := s.limiter.acquire(ctx, endpoint.ID)
	defer permit.end()
	switch {
	case permit.release == nil && permit.retryIn == 0: // Due skips the endpoint until a batch ends
		return nil, postpone(context.WithoutCancel(ctx), s.db, endpoint, ids, time.Time{})
	case permit.release == nil:
		return nil, postpone(ctx, s.db, endpoint, ids, s.moment().Add(permit.retryIn))
	case endpoint.limited():
		return s.deliverLimited(ctx, endpoint, ids, permit)
	case permit.probe:
		return s.probe(ctx, endpoint, ids, permit)
	}
	return s.deliverBatch(ctx, endpoint, ids, permit)
}

// probe sends one delivery to an endpoint that could not be reached. When it is answered the others
// are sent too, otherwise they wait for the breaker.
func (s *Service) probe(ctx context.Context, endpoint Endpoint, ids []int64, permit permit) (Tally, error) {
	tally := Tally{}
	for len(ids) > 0 && len(tally) == 0 {
		sent, err := s.deliverBatch(ctx, endpoint, ids[:1], keepPermit)
		if err != nil {
			return sent, err
		}
		ids = ids[1:]
		tally.add(sent)
	}
	if len(ids) == 0 {
		return tally, nil
	}
	if s.limiter.breakerOpen(endpoint.ID) {
		return tally, postpone(ctx, s.db, endpoint, ids, s.moment().Add(breakerPause))
	}
	sent, err := s.deliverBatch(ctx, endpoint, ids, permit)
	tally.add(sent)
	return tally, err
}

// staleAfter is how long a task takes an endpoint for unchanged without looking.
const staleAfter = 100 * time.Millisecond

// keepPermit is for a batch that is not the last one under its permit.
var keepPermit = permit{}

// deliverBatch claims those of the deliveries that are due and makes their next attempt. It ends
// the permit when all are sent, so that the next batch is sent while this one is recorded.
func (s *Service) deliverBatch(ctx context.Context, endpoint Endpoint, ids []int64, permit permit) (Tally, error) {
	now := s.moment()
	keys, err := openKeys(ctx, s.keyring, endpoint, now)
	if err != nil {
		return nil, err
	}
	claims, err := claim(ctx, s.db, endpoint, ids, now, now.Add(s.leaseFor(len(ids))))
	if err != nil {
		return nil, err
	}
	if len(claims) == 0 {
		return nil, s.passOn(ctx, endpoint, ids)
	}
	return s.sendAll(ctx, endpoint, claims, keys, permit)
}

// leaseFor is how long a worker may take for n deliveries before it counts as dead.
func (s *Service) leaseFor(n int) time.Duration {
	rounds := (n + sendsPerBatch - 1) / sendsPerBatch
	return time.Duration(rounds)*s.policy.Timeout + s.policy.LeaseMargin
}

// passOn is for deliveries that could not be claimed. Usually another worker was faster. But those
// of an endpoint that has changed are for the next task, and one that the endpoint does not want
// must leave the schedule, or Due returns it for ever.
func (s *Service) passOn(ctx context.Context, endpoint Endpoint, ids []int64) error {
	now, found, err := selectReceiver(ctx, s.db, endpoint.TenantID, endpoint.ID)
	if err != nil || !found {
		return err
	}
	if endpoint.changed(now) {
		if err := postpone(ctx, s.db, endpoint, ids, time.Time{}); err != nil {
			return err
		}
	}
	unwanted, err := anyUnwanted(ctx, s.db, endpoint, ids)
	if err != nil || !unwanted {
		return err
	}
	return s.hold(ctx, endpoint)
}

// sendAll makes claimed attempts, sendsPerBatch at a time, and returns when all are recorded. It
// ends the permit before the last are recorded. When the endpoint is changed meanwhile, or ctx
// ends, it leaves those that are not sent yet to the next task.
func (s *Service) sendAll(ctx context.Context, endpoint Endpoint, claims []claimed, keys keys, permit permit) (Tally, error) {
	report := &report{tally: Tally{}}
	fresh := &freshness{endpoint: endpoint, asOf: s.now()}
	var sending errgroup.Group
	sending.SetLimit(sendsPerBatch)
	s.recorder.expect(len(claims))
	for _, c := range claims {
		sending.Go(func() error {
			if !s.waitUntil(ctx, c.SendAt) || s.stale(ctx, fresh) {
				s.recorder.abandon()
				report.leave(c)
				return nil
			}
			o, answered := s.attempt(ctx, endpoint, c, keys)
			if !answered {
				s.recorder.abandon()
				return nil
			}
			report.unrecorded.Add(1)
			s.recorder.add(result{ctx: ctx, endpoint: endpoint, outcome: o, report: report})
			return nil
		})
	}
	_ = sending.Wait() // the senders return no errors
	permit.end()
	err := s.unclaim(ctx, endpoint, report.left)
	report.unrecorded.Wait()
	return report.tally, cmp.Or(report.err, err)
}

// freshness is what is known of whether an endpoint is still as it was read.
type freshness struct {
	endpoint Endpoint

	mu      sync.Mutex
	asOf    time.Time
	changed bool
	// failed: Postgres did not say.
	failed bool
}

// stale says whether an endpoint has changed since a task read it. It looks again after staleAfter.
// Without an answer within a second it sends what is claimed: leases are running.
func (s *Service) stale(ctx context.Context, f *freshness) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed || f.failed || s.now().Sub(f.asOf) < staleAfter {
		return f.changed
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	current, found, err := selectReceiver(ctx, s.db, f.endpoint.TenantID, f.endpoint.ID)
	f.asOf, f.failed = s.now(), err != nil
	f.changed = err == nil && (!found || f.endpoint.changed(current))
	return f.changed
}

// report collects the results of one batch.
type report struct {
	unrecorded sync.WaitGroup
	mu         sync.Mutex
	tally      Tally
	err        error
	// left are the claims that were not sent.
	left []claimed
}

func (r *report) leave(c claimed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = append(r.left, c)
}

func (r *report) recorded(o outcome, err error) {
	defer r.unrecorded.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally[o.status()]++
	if r.err == nil {
		r.err = err
	}
}

// attempt sends one claimed delivery; answered is false when ctx ended before its outcome was
// known.
func (s *Service) attempt(ctx context.Context, endpoint Endpoint, c claimed, keys keys) (o outcome, answered bool) {
	ctx, span := startAttempt(ctx, endpoint, c)
	defer func() { s.endAttempt(ctx, span, o, answered) }()
	if c.Sealed != nil {
		body, err := s.keyring.Open(ctx, c.Sealed, events.SealedBinding(string(endpoint.TenantID), c.EventID))
		if err != nil {
			s.log.WarnContext(ctx, "sealed body of an event not opened", telemetry.KeyError, err)
			return outcome{}, false
		}
		c.Body = body
	}
	a, abandoned := s.send(ctx, endpoint.URL, messageOf(c, s.now()), keys)
	if abandoned {
		return outcome{}, false
	}
	if c.Sealed != nil { // the answer may repeat what is not kept
		a.ResponseHeaders, a.ResponseBody = firstValues(nil), ""
	}
	if a.unreachable {
		s.limiter.noteUnreachable(endpoint.ID)
	} else {
		s.limiter.noteReachable(endpoint.ID)
	}
	return s.decide(c, a), true
}

// waitUntil waits for the time at which max_per_second lets the request leave; false when ctx
// ended. The zero time does not wait.
func (s *Service) waitUntil(ctx context.Context, at time.Time) bool {
	if ahead := at.Sub(s.now()); !at.IsZero() && ahead > 0 {
		_ = ticker.Wait(ctx, ahead) // ctx is asked below
	}
	return ctx.Err() == nil
}
