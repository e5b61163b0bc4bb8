package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
)

// limitedTaskTime is how long one task serves an endpoint with limits before other endpoints get
// its worker. Requests that are under way then still end within the task's time.
const limitedTaskTime = 5 * time.Second

// limited says that the endpoint's limits hold for all workers together. What is sent to it is
// decided under the lock of its row, see deliverLimited.
func (e Endpoint) limited() bool { return e.Ordered || e.MaxPerSecond > 0 || e.MaxInFlight > 0 }

// maxConcurrent is how many requests the endpoint may have running; 0: as many as a process sends.
func (e Endpoint) maxConcurrent() int {
	if e.Ordered {
		return 1
	}
	return e.MaxInFlight
}

// deliverLimited sends whatever an endpoint with limits has due, reservation by reservation. A task
// that finds the limits used up ends at once, and the task that uses them does its work too. ids
// are those the task was made for; Due may return again what is left of them.
func (s *Service) deliverLimited(ctx context.Context, endpoint Endpoint, ids []int64, permit permit) (Tally, error) {
	tally := Tally{}
	paced, endPacing := s.limiter.pace(endpoint)
	defer endPacing()
	request := reservationRequest{endpoint: endpoint, probe: permit.probe, paced: paced}
	for began, first := s.now(), true; ctx.Err() == nil && (first || s.now().Sub(began) < limitedTaskTime); first = false {
		reserved, err := s.reserve(ctx, request)
		if err != nil {
			return tally, err
		}
		if len(reserved.claims) == 0 {
			s.limiter.noteLimited(endpoint.ID, reserved.retryIn)
			break
		}
		keys, err := openKeys(ctx, s.keyring, reserved.endpoint, s.moment())
		if err != nil {
			return tally, err
		}
		sent, err := s.sendAll(ctx, reserved.endpoint, reserved.claims, keys, keepPermit)
		tally.add(sent)
		if err != nil {
			return tally, err
		}
		request.probe = false
		if s.limiter.breakerOpen(endpoint.ID) {
			break
		}
	}
	return tally, postpone(context.WithoutCancel(ctx), s.db, endpoint, ids, time.Time{})
}

// reservationRequest is how a task asks for deliveries of an endpoint with limits.
type reservationRequest struct {
	endpoint Endpoint
	// probe: one delivery only, to see whether the endpoint can be reached again.
	probe bool
	// paced: the task may wait up to a second for the spacing of max_per_second.
	paced bool
}

// reservation is what may be sent now to an endpoint with limits.
type reservation struct {
	// endpoint is as it was when the reservation was made.
	endpoint Endpoint
	claims   []claimed
	// retryIn is set when the limits let nothing be sent.
	retryIn time.Duration
}

// reserve claims what an endpoint's limits and order allow at this moment. The endpoint stays
// locked meanwhile, so that each worker sees what the workers before it have claimed.
func (s *Service) reserve(ctx context.Context, request reservationRequest) (reservation, error) {
	now := s.moment()
	var reserved reservation
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		reserved = reservation{}
		endpoint, found, err := lockReceiver(ctx, tx, request.endpoint)
		if err != nil || !found {
			return err
		}
		reserved.endpoint = endpoint
		most, startAt, err := reserved.allowed(ctx, tx, request, now)
		if err != nil || most == 0 {
			return err
		}
		ids, err := selectDue(ctx, tx, endpoint, now, most)
		if err != nil || len(ids) == 0 {
			return err
		}
		spacing := endpoint.spacing()
		lease := now.Add(s.leaseFor(len(ids)) + startAt.Sub(now) + time.Duration(len(ids))*spacing)
		if reserved.claims, err = claim(ctx, tx, endpoint, ids, now, lease); err != nil {
			return err
		}
		if len(reserved.claims) == 0 { // a delivery that was inserted while the endpoint changed
			return holdOrRelease(ctx, tx, endpoint, now)
		}
		for i := range reserved.claims {
			if spacing > 0 {
				reserved.claims[i].SendAt = startAt.Add(time.Duration(i) * spacing)
			}
		}
		return countAgainstLimits(ctx, tx, reserved, lease, startAt)
	})
	return reserved, err
}

// allowed says how many deliveries the endpoint's limits allow now, and when the first of them may
// leave. When it is none it sets when to ask again.
func (r *reservation) allowed(
	ctx context.Context, tx bun.IDB, request reservationRequest, now time.Time,
) (most int, startAt time.Time, err error) {
	most = MaxBatch
	if request.probe {
		most = 1
	}
	if limit := r.endpoint.maxConcurrent(); limit > 0 {
		running, err := countRunning(ctx, tx, r.endpoint, now)
		if err != nil {
			return 0, now, err
		}
		if most = min(most, limit-running); most <= 0 {
			r.retryIn = busyPause
			return 0, now, nil
		}
	}
	spacing := r.endpoint.spacing()
	if spacing == 0 {
		return most, now, nil
	}
	ahead := r.endpoint.NextSendAt.Sub(now)
	switch {
	case request.paced && ahead <= spacing: // further ahead another task is sending
		most = min(most, r.endpoint.MaxPerSecond)
	case ahead <= 0:
		most = 1
	default:
		r.retryIn = ahead
		return 0, now, nil
	}
	return most, now.Add(max(ahead, 0)), nil
}

// spacing is the time between two requests under max_per_second; 0 without that limit.
func (e Endpoint) spacing() time.Duration {
	if e.MaxPerSecond == 0 {
		return 0
	}
	return time.Second / time.Duration(e.MaxPerSecond)
}

// selectDue returns up to limit deliveries that are due and not claimed. Of an ordered endpoint it
// is the first pending one or, when that one is not due, none.
func selectDue(ctx context.Context, tx bun.IDB, endpoint Endpoint, now time.Time, limit int) ([]int64, error) {
	var ids []int64
	query := tx.NewRaw(`
SELECT id
FROM webhook_deliveries
WHERE tenant_id = ?
  AND endpoint_id = ?
  AND status = 'pending'
  AND next_at <= ?
  AND (lease_until IS NULL OR lease_until < ?)
ORDER BY next_at, id
LIMIT ?`, endpoint.TenantID, endpoint.ID, now, now, limit)
	if endpoint.Ordered {
		query = tx.NewRaw(`
SELECT id
FROM (
    SELECT id,
           next_at,
           lease_until
    FROM webhook_deliveries
    WHERE tenant_id = ?
      AND endpoint_id = ?
      AND status = 'pending'
      AND next_at IS NOT NULL
    ORDER BY id
    LIMIT 1
) AS first
WHERE next_at <= ?
  AND (lease_until IS NULL OR lease_until < ?)`, endpoint.TenantID, endpoint.ID, now, now)
	}
	if err := query.Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("select due deliveries: %w", err)
	}
	return ids, nil
}

// countRunning counts the endpoint's requests under way. It first deletes those whose lease is
// over.
func countRunning(ctx context.Context, tx bun.IDB, endpoint Endpoint, now time.Time) (int, error) {
	_, err := tx.ExecContext(ctx, `
DELETE FROM webhook_flights
WHERE tenant_id = ?
  AND endpoint_id = ?
  AND lease_until < ?`, endpoint.TenantID, endpoint.ID, now)
	if err != nil {
		return 0, fmt.Errorf("delete expired requests under way: %w", err)
	}
	var running int
	err = tx.NewRaw("SELECT count(*) FROM webhook_flights WHERE tenant_id = ? AND endpoint_id = ?", endpoint.TenantID, endpoint.ID).
		Scan(ctx, &running)
	if err != nil {
		return 0, fmt.Errorf("count requests under way: %w", err)
	}
	return running, nil
}

// countAgainstLimits counts claimed deliveries against the limits of their endpoint. recordSQL
// deletes the rows of webhook_flights when the attempts have ended.
func countAgainstLimits(ctx context.Context, tx bun.IDB, reserved reservation, lease, startAt time.Time) error {
	endpoint := reserved.endpoint
	if endpoint.maxConcurrent() > 0 {
		ids := make([]int64, len(reserved.claims))
		for i, c := range reserved.claims {
			ids[i] = c.DeliveryID
		}
		_, err := tx.ExecContext(ctx, `
INSERT INTO webhook_flights (tenant_id, endpoint_id, delivery_id, lease_until)
SELECT ?, ?, id, ?
FROM unnest(?::bigint[]) AS n (id)
ON CONFLICT (endpoint_id, delivery_id) DO UPDATE SET lease_until = excluded.lease_until
WHERE webhook_flights.tenant_id = excluded.tenant_id`, endpoint.TenantID, endpoint.ID, lease, pgdialect.Array(ids))
		if err != nil {
			return fmt.Errorf("insert requests under way: %w", err)
		}
	}
	if spacing := endpoint.spacing(); spacing > 0 {
		next := startAt.Add(time.Duration(len(reserved.claims)) * spacing)
		_, err := tx.ExecContext(ctx, "UPDATE webhook_endpoints SET next_send_at = ? WHERE tenant_id = ? AND id = ?",
			next, endpoint.TenantID, endpoint.ID)
		if err != nil {
			return fmt.Errorf("set when the next request may leave: %w", err)
		}
	}
	return nil
}
