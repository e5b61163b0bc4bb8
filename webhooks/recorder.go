package webhooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/ticker"
)

const (
	// linger is how long a result waits for others to be written with it. Source: design.
	linger = 10 * time.Millisecond
	// fullGroup is how many results are written without lingering.
	fullGroup = 128
	// A result that could not be written is written again after retryPause, then after twice as
	// long each time, up to maxRetryPause.
	retryPause    = 100 * time.Millisecond
	maxRetryPause = time.Second
)

// recorder writes the results of all tasks of a process, many in one statement. A group holds the
// successes of any number of endpoints. Results of an endpoint with a failure or a late success are
// written in a transaction of their own, because more has to be changed in it.
type recorder struct {
	service *Service
	// hurry ends the lingering.
	hurry chan struct{}

	mu sync.Mutex
	// outstanding counts the attempts under way.
	outstanding int
	waiting     []result
	running     bool
}

// result is an outcome to be written.
type result struct {
	ctx      context.Context //nolint:containedctx // the task's: results of several tasks are written together
	endpoint Endpoint
	outcome  outcome
	// report is the task's; it is told once, outside all locks, when the outcome was written or given
	// up.
	report *report
}

func newRecorder(s *Service) *recorder {
	return &recorder{service: s, hurry: make(chan struct{}, 1)}
}

// expect announces n results, each of which comes by add or is given up by abandon.
func (r *recorder) expect(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outstanding += n
}

// abandon says that an announced result does not come.
func (r *recorder) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outstanding--
	r.hurryIfFull()
}

// add takes an announced result.
func (r *recorder) add(one result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outstanding--
	r.waiting = append(r.waiting, one)
	r.hurryIfFull()
	if !r.running {
		r.running = true
		go r.run() // ends when nothing waits; each task waits for its results
	}
}

// full says that there is nothing to linger for. The caller holds the lock.
func (r *recorder) full() bool { return r.outstanding <= 0 || len(r.waiting) >= fullGroup }

func (r *recorder) hurryIfFull() {
	if !r.full() {
		return
	}
	select {
	case r.hurry <- struct{}{}:
	default:
	}
}

// run writes groups of results until nothing waits.
func (r *recorder) run() {
	for {
		r.linger()
		group, done := r.next()
		if done {
			return
		}
		r.write(group)
	}
}

// linger gives other results a moment to join those that wait.
func (r *recorder) linger() {
	r.mu.Lock()
	full := r.full()
	r.mu.Unlock()
	if full {
		return
	}
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.hurry:
	}
}

// next takes the results that wait, one for each delivery: a delivery whose first attempt was taken
// for lost may have two, and one statement cannot change a row twice.
func (r *recorder) next() (group []result, done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := make(map[int64]bool, len(r.waiting))
	var later []result
	for _, one := range r.waiting {
		if seen[one.outcome.DeliveryID] {
			later = append(later, one)
			continue
		}
		seen[one.outcome.DeliveryID] = true
		group = append(group, one)
	}
	r.waiting = later
	r.running = len(group) > 0
	return group, !r.running
}

// write records a group. Endpoints that another transaction has locked are skipped, so that the
// others do not wait for them; their results are written apart.
func (r *recorder) write(group []result) {
	special := map[EndpointID]bool{}
	for _, one := range group {
		if !r.service.plain(one) {
			special[one.endpoint.ID] = true
		}
	}
	apart := map[*report][]result{}
	var together []result
	for _, one := range group {
		if special[one.endpoint.ID] {
			apart[one.report] = append(apart[one.report], one)
		} else {
			together = append(together, one)
		}
	}
	r.writeApart(apart)
	if len(together) == 0 {
		return
	}
	// Known results are written although their task was cancelled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(together[0].ctx), r.service.policy.RecordTimeout)
	defer cancel()
	written, err := writeResults(ctx, r.service.db, together, skipLocked)
	skipped := map[*report][]result{}
	for _, one := range together {
		if _, ok := written[one.endpoint.ID]; ok && err == nil {
			one.report.recorded(one.outcome, nil)
			continue
		}
		skipped[one.report] = append(skipped[one.report], one)
	}
	r.writeApart(skipped)
}

// writeApart begins to record results, those of each task by themselves, because what cannot be
// written is tried again as long as that task lives.
func (r *recorder) writeApart(byTask map[*report][]result) {
	for task, own := range byTask {
		go func() {
			err := r.service.recordPersistently(own)
			if err != nil {
				err = fmt.Errorf("record %d attempts: %w", len(own), err)
			}
			for _, one := range own {
				task.recorded(one.outcome, err)
			}
		}()
	}
}

// recordPersistently records results of one task and tries again as long as that lives,
// renewing their leases: a locked endpoint or a restarting database must not turn an answer into an
// unknown outcome and send the event again. A try whose own outcome is unknown may count a failure
// twice.
func (s *Service) recordPersistently(own []result) error {
	ctx := own[0].ctx
	for pause := retryPause; ; pause = min(2*pause, maxRetryPause) {
		err := s.recordOnce(ctx, own)
		if err == nil || !transient(err) || ctx.Err() != nil {
			return err
		}
		err = errors.Join(err, s.renewLeases(ctx, own))
		if ticker.Wait(ctx, pause) != nil {
			return err
		}
	}
}

// recordOnce tries once, also when the task was cancelled.
func (s *Service) recordOnce(ctx context.Context, own []result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.policy.RecordTimeout)
	defer cancel()
	return s.record(ctx, own)
}

// transient says whether the same statement may succeed later.
func transient(err error) bool {
	kind := postgres.Decide(err).Kind()
	return kind == fault.Unavailable || kind == fault.Aborted || kind == fault.Timeout
}

// renewLeases extends the leases of results' deliveries, unless another worker has begun the next
// attempt.
func (s *Service) renewLeases(ctx context.Context, own []result) error {
	ctx, cancel := context.WithTimeout(ctx, s.policy.RecordTimeout)
	defer cancel()
	deliveries, attempts := make([]int64, len(own)), make([]int, len(own))
	for i, one := range own {
		deliveries[i], attempts[i] = one.outcome.DeliveryID, one.outcome.Attempt
	}
	endpoint := own[0].endpoint
	lease := s.moment().Add(s.policy.RecordTimeout + s.policy.LeaseMargin)
	_, err := s.db.NewRaw(`
UPDATE webhook_deliveries AS d
SET lease_until = greatest(d.lease_until, ?)
FROM unnest(?::bigint[], ?::integer[]) AS r (delivery_id, attempt)
WHERE d.tenant_id = ?
  AND d.endpoint_id = ?
  AND d.id = r.delivery_id
  AND d.attempt = r.attempt
  AND d.status = 'pending'
  AND d.lease_until IS NOT NULL`,
		lease, pgdialect.Array(deliveries), pgdialect.Array(attempts), endpoint.TenantID, endpoint.ID).Exec(ctx)
	if err != nil {
		return postgres.MapError(fmt.Errorf("renew leases: %w", err))
	}
	return nil
}
