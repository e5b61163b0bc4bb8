package webhooks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/platform/postgres"
)

const (
	// linger is how long a result waits for others to be written with it. Source: design.
	linger = 10 * time.Millisecond
	// recordMost is how many results are enough to wait no longer.
	recordMost = 128
)

// recorder writes the results of all tasks of a process down together: one statement for many
// endpoints. What an endpoint has to be locked for, a failure, is written for it alone.
type recorder struct {
	service *Service
	// full says that there is no reason to linger.
	full chan struct{}

	mu sync.Mutex
	// coming counts the attempts whose results may still come.
	coming  int
	waiting []result
	running bool
}

// result is an outcome, and who waits for it to be written down.
type result struct {
	ctx      context.Context //nolint:containedctx // of the task, for the trace of what is written
	endpoint Endpoint
	outcome  outcome
	// written is called once, outside all locks.
	written func(error)
}

func newRecorder(s *Service) *recorder {
	return &recorder{service: s, full: make(chan struct{}, 1)}
}

// expect says that n results will come, each by add or by abandon.
func (r *recorder) expect(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.coming += n
}

// abandon says that one of them does not come.
func (r *recorder) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.coming--
	r.hurry()
}

// add has one of them written down.
func (r *recorder) add(one result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.coming--
	r.waiting = append(r.waiting, one)
	r.hurry()
	if !r.running {
		r.running = true
		go r.run() // ends when nothing waits; each task waits for its results
	}
}

// hurry ends the lingering when there is nothing more to wait for.
func (r *recorder) hurry() {
	if r.coming > 0 && len(r.waiting) < recordMost {
		return
	}
	select {
	case r.full <- struct{}{}:
	default:
	}
}

// run writes down what there is until nothing waits.
func (r *recorder) run() {
	for {
		r.linger()
		r.mu.Lock()
		group := r.waiting
		r.waiting = nil
		if len(group) == 0 {
			r.running = false
		}
		r.mu.Unlock()
		if len(group) == 0 {
			return
		}
		r.write(group)
	}
}

// linger waits for more than there is, a moment.
func (r *recorder) linger() {
	r.mu.Lock()
	enough := r.coming <= 0 || len(r.waiting) >= recordMost
	r.mu.Unlock()
	if enough {
		return
	}
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.full:
	}
}

// write writes the successes down together and the rest by endpoint: behind an endpoint that
// another transaction has locked nobody else waits.
func (r *recorder) write(group []result) {
	alone := map[EndpointID][]result{}
	seen := make(map[int64]bool, len(group))
	for _, one := range group {
		// Two attempts of a delivery: one of them was taken for lost.
		if id := one.outcome.DeliveryID; !one.plain() || seen[id] {
			alone[one.endpoint.ID] = nil
		} else {
			seen[id] = true
		}
	}
	var together []result
	for _, one := range group {
		if _, ok := alone[one.endpoint.ID]; ok {
			alone[one.endpoint.ID] = append(alone[one.endpoint.ID], one)
			continue
		}
		together = append(together, one)
	}
	for _, own := range alone {
		go r.writeAlone(own)
	}
	if len(together) == 0 {
		return
	}
	// What is known is written down although a task was cancelled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(together[0].ctx), r.service.policy.RecordTimeout)
	defer cancel()
	written, err := r.service.recordSuccesses(ctx, together)
	left := map[EndpointID][]result{}
	for _, one := range together {
		if err == nil && slices.Contains(written, one.endpoint.ID) {
			one.written(nil)
			continue
		}
		left[one.endpoint.ID] = append(left[one.endpoint.ID], one)
	}
	for _, own := range left { // locked by another, deleted, or the statement failed
		go r.writeAlone(own)
	}
}

// plain says that a result asks for nothing but to be written down.
func (one result) plain() bool {
	return one.outcome.verdict == verdictSucceeded && !one.outcome.Test && one.endpoint.atOnce() == 0
}

// writeAlone writes results of one endpoint down.
func (r *recorder) writeAlone(own []result) {
	outcomes := make([]outcome, len(own))
	for i, one := range own {
		outcomes[i] = one.outcome
	}
	err := r.service.persist(own[0].ctx, own[0].endpoint, outcomes)
	if err != nil {
		err = fmt.Errorf("record %d attempts: %w", len(own), err)
	}
	for _, one := range own {
		one.written(err)
	}
}

const recordSuccessesSQL = `
WITH locked AS (
    SELECT e.tenant_id,
           e.id,
           t.succeeded_at
    FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS t (tenant_id, id, succeeded_at)
    JOIN webhook_endpoints AS e ON e.tenant_id = t.tenant_id AND e.id = t.id
    ORDER BY e.id
    FOR NO KEY UPDATE OF e SKIP LOCKED
), e AS (
    UPDATE webhook_endpoints AS w
    SET consecutive_failures = 0,
        last_success_at = greatest(w.last_success_at, locked.succeeded_at)
    FROM locked
    WHERE w.tenant_id = locked.tenant_id
      AND w.id = locked.id
    RETURNING w.tenant_id, w.id
), r AS (
    SELECT *
    FROM unnest($4::text[], $5::timestamptz[], $6::text[], $7::bigint[], $8::integer[], $9::integer[], $10::integer[], $11::text[], $12::text[], $13::text[])
        AS r (attempt_id, started_at, endpoint_id, delivery_id, attempt, status_code, duration_ms, request_headers, response_headers, response_body)
), deliveries AS (
    UPDATE webhook_deliveries AS d
    SET status = 'succeeded',
        next_at = NULL,
        lease_until = NULL,
        queued_until = NULL,
        once = false
    FROM r
    JOIN e ON e.id = r.endpoint_id
    WHERE d.tenant_id = e.tenant_id
      AND d.id = r.delivery_id
      AND d.endpoint_id = e.id
    RETURNING r.attempt_id, d.tenant_id, d.workspace_id, d.endpoint_id, r.delivery_id, r.attempt, r.status_code, r.duration_ms,
              r.request_headers, r.response_headers, r.response_body, r.started_at
), attempts AS (
    INSERT INTO webhook_attempts AS a
        (id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, status, status_code, duration_ms,
         request_headers, response_headers, response_body, started_at)
    SELECT attempt_id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, 'succeeded', status_code, duration_ms,
           request_headers::jsonb, response_headers::jsonb, response_body, started_at
    FROM deliveries
    ` + attemptEnds + `
)
SELECT id FROM e`

// recordSuccesses writes successes of many endpoints down, tests left out, and returns the
// endpoints whose were: not those that another transaction has locked or removed. See writeOutcomes
// for what a success means.
func (s *Service) recordSuccesses(ctx context.Context, group []result) ([]EndpointID, error) {
	var of struct {
		tenants, ids []string
		at           []time.Time
	}
	endpoints, outcomes := make([]string, len(group)), make([]outcome, len(group))
	for i, one := range group {
		id, endedAt := string(one.endpoint.ID), one.outcome.EndedAt
		endpoints[i], outcomes[i] = id, one.outcome
		place := slices.Index(of.ids, id)
		if place < 0 {
			place = len(of.ids)
			of.tenants, of.ids, of.at = append(of.tenants, string(one.endpoint.TenantID)), append(of.ids, id), append(of.at, endedAt)
		}
		if endedAt.After(of.at[place]) {
			of.at[place] = endedAt
		}
	}
	r, err := columnsOf(outcomes)
	if err != nil {
		return nil, err
	}
	var written []EndpointID
	_, err = s.db.Pipeline(ctx, postgres.Step{
		SQL:  postgres.RawForAllTenants("results of many are written together", recordSuccessesSQL),
		Args: []any{of.tenants, of.ids, of.at, r.ids, r.began, endpoints, r.deliveries, r.attempts, r.codes, r.durations, r.requestHeaders, r.responseHeaders, r.body},
		Row: func(scan func(into ...any) error) error {
			var id EndpointID
			err := scan(&id)
			written = append(written, id)
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("record successes: %w", err)
	}
	return written, nil
}
