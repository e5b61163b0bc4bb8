package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
)

// drainTime is how long one task goes on with an endpoint that has limits before others get its
// worker; what is under way then still ends within the task's time.
const drainTime = 5 * time.Second

// limited says that what is sent to the endpoint is decided under its lock, for all workers
// together: see drain.
func (e Endpoint) limited() bool { return e.Ordered || e.MaxPerSecond > 0 || e.MaxInFlight > 0 }

// atOnce is how many requests the endpoint may have running; 0: as many as a process has slots for.
func (e Endpoint) atOnce() int {
	if e.Ordered {
		return 1
	}
	return e.MaxInFlight
}

// drain makes attempts of whatever an endpoint with limits has due, a turn after the other: a task
// that finds the limits used up ends at once, and the one that uses them does its work too. ids
// are those the task was made for; what is left of them Due may offer again.
func (s *Service) drain(ctx context.Context, endpoint Endpoint, ids []int64, probe bool) (Tally, error) {
	tally := Tally{}
	paced, leave := s.slots.pace(endpoint)
	defer leave()
	ask := ask{of: endpoint, probe: probe, paced: paced}
	for began, first := s.now(), true; ctx.Err() == nil && (first || s.now().Sub(began) < drainTime); first = false {
		got, err := s.takeTurn(ctx, ask)
		if err != nil {
			return tally, err
		}
		if len(got.claims) == 0 {
			s.slots.pause(endpoint.ID, got.retryIn)
			break
		}
		keys, err := openKeys(ctx, s.keyring, got.endpoint, s.moment())
		if err != nil {
			return tally, err
		}
		sent, err := s.sendAll(ctx, got.endpoint, got.claims, keys, func() {})
		tally.add(sent)
		if err != nil {
			return tally, err
		}
		ask.probe = false
		if s.slots.open(endpoint.ID) {
			break
		}
	}
	return tally, unqueue(context.WithoutCancel(ctx), s.db, endpoint, ids)
}

// ask is how a task asks for a turn.
type ask struct {
	of Endpoint
	// probe: one delivery only, to see whether the endpoint can be reached again.
	probe bool
	// paced: the task may wait for the places of max_per_second, up to a second.
	paced bool
}

// turn is what may be sent now to an endpoint with limits.
type turn struct {
	// endpoint is as it was when the turn was taken.
	endpoint Endpoint
	claims   []claimed
	// retryIn is set when the limits let nothing be sent.
	retryIn time.Duration
}

// takeTurn claims what an endpoint's limits and order allow at this moment. The endpoint stays
// locked meanwhile, so that workers ask one after the other and each sees what those before took.
func (s *Service) takeTurn(ctx context.Context, ask ask) (turn, error) {
	now := s.moment()
	var got turn
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		got = turn{}
		endpoint, found, err := lockReceiver(ctx, tx, ask.of)
		if err != nil || !found {
			return err
		}
		got.endpoint = endpoint
		room, startAt, err := got.room(ctx, tx, ask, now)
		if err != nil || room == 0 {
			return err
		}
		ids, err := selectRipe(ctx, tx, endpoint, now, room)
		if err != nil || len(ids) == 0 {
			return err
		}
		spacing := endpoint.spacing()
		rounds := (len(ids) + sendsPerCall - 1) / sendsPerCall
		lease := now.Add(time.Duration(rounds)*s.policy.Timeout + startAt.Sub(now) + time.Duration(len(ids))*spacing + s.policy.LeaseMargin)
		if got.claims, err = claim(ctx, tx, endpoint, ids, now, lease); err != nil {
			return err
		}
		if len(got.claims) == 0 { // what slipped onto the schedule beside a change leaves it
			return holdOrRelease(ctx, tx, endpoint, now)
		}
		for i := range got.claims {
			if spacing > 0 {
				got.claims[i].SendAt = startAt.Add(time.Duration(i) * spacing)
			}
		}
		return takeOff(ctx, tx, endpoint, got.claims, lease, startAt)
	})
	return got, err
}

// room says how many deliveries the endpoint's limits let through now, and when the first of them
// may leave. Without room it sets when to ask again.
func (t *turn) room(ctx context.Context, tx bun.IDB, ask ask, now time.Time) (room int, startAt time.Time, err error) {
	room, startAt = MaxBatch, now
	if ask.probe {
		room = 1
	}
	if limit := t.endpoint.atOnce(); limit > 0 {
		flying, err := countFlights(ctx, tx, t.endpoint, now)
		if err != nil {
			return 0, now, err
		}
		if room = min(room, limit-flying); room <= 0 {
			t.retryIn = busyPause
			return 0, now, nil
		}
	}
	spacing := t.endpoint.spacing()
	if spacing == 0 {
		return room, now, nil
	}
	ahead := t.endpoint.NextSendAt.Sub(now)
	switch {
	case ask.paced && ahead <= spacing: // one place further on another task is sending
		room = min(room, t.endpoint.MaxPerSecond)
	case ahead <= 0:
		room = 1
	default:
		t.retryIn = ahead
		return 0, now, nil
	}
	return room, now.Add(max(ahead, 0)), nil
}

// spacing is how far apart two requests under max_per_second are; 0 without one.
func (e Endpoint) spacing() time.Duration {
	if e.MaxPerSecond == 0 {
		return 0
	}
	return time.Second / time.Duration(e.MaxPerSecond)
}

// lockReceiver is the endpoint of a task, locked. Whoever locks deliveries of it as well locks it first.
func lockReceiver(ctx context.Context, tx bun.IDB, of Endpoint) (endpoint Endpoint, found bool, err error) {
	err = tx.NewSelect().Model(&endpoint).Where("we.tenant_id = ?", of.TenantID).Where("we.id = ?", of.ID).For("NO KEY UPDATE").Scan(ctx)
	if postgres.NoRows(err) {
		return Endpoint{}, false, nil
	}
	if err != nil {
		return Endpoint{}, false, fmt.Errorf("lock receiver: %w", err)
	}
	return endpoint, true, nil
}

// selectRipe names up to limit deliveries that are due and nobody's. Of an ordered endpoint it is
// the first in the line or, when that one has to wait, none.
func selectRipe(ctx context.Context, tx bun.IDB, endpoint Endpoint, now time.Time, limit int) ([]int64, error) {
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
) AS line
WHERE next_at <= ?
  AND (lease_until IS NULL OR lease_until < ?)`, endpoint.TenantID, endpoint.ID, now, now)
	}
	if err := query.Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("select due deliveries: %w", err)
	}
	return ids, nil
}

// countFlights counts the endpoint's requests that run, and forgets those whose lease is over.
func countFlights(ctx context.Context, tx bun.IDB, endpoint Endpoint, now time.Time) (int, error) {
	_, err := tx.ExecContext(ctx, "DELETE FROM webhook_flights WHERE tenant_id = ? AND endpoint_id = ? AND lease_until < ?", endpoint.TenantID, endpoint.ID, now)
	if err != nil {
		return 0, fmt.Errorf("forget overdue flights: %w", err)
	}
	var flying int
	err = tx.NewRaw("SELECT count(*) FROM webhook_flights WHERE tenant_id = ? AND endpoint_id = ?", endpoint.TenantID, endpoint.ID).Scan(ctx, &flying)
	if err != nil {
		return 0, fmt.Errorf("count flights: %w", err)
	}
	return flying, nil
}

// takeOff counts claimed deliveries against the endpoint's limits.
func takeOff(ctx context.Context, tx bun.IDB, endpoint Endpoint, claims []claimed, lease, startAt time.Time) error {
	if endpoint.atOnce() > 0 {
		ids := make([]int64, len(claims))
		for i, c := range claims {
			ids[i] = c.DeliveryID
		}
		_, err := tx.ExecContext(ctx, `
INSERT INTO webhook_flights (tenant_id, endpoint_id, delivery_id, lease_until)
SELECT ?, ?, id, ?
FROM unnest(?::bigint[]) AS n (id)
ON CONFLICT (endpoint_id, delivery_id) DO UPDATE SET lease_until = excluded.lease_until
WHERE webhook_flights.tenant_id = excluded.tenant_id`, endpoint.TenantID, endpoint.ID, lease, pgdialect.Array(ids))
		if err != nil {
			return fmt.Errorf("count flights in: %w", err)
		}
	}
	if spacing := endpoint.spacing(); spacing > 0 {
		next := startAt.Add(time.Duration(len(claims)) * spacing)
		_, err := tx.ExecContext(ctx, "UPDATE webhook_endpoints SET next_send_at = ? WHERE tenant_id = ? AND id = ?", next, endpoint.TenantID, endpoint.ID)
		if err != nil {
			return fmt.Errorf("give places out: %w", err)
		}
	}
	return nil
}

// land ends the flights of attempts that were recorded.
func land(ctx context.Context, db bun.IDB, endpoint Endpoint, outcomes []outcome) error {
	if endpoint.atOnce() == 0 {
		return nil
	}
	ids := make([]int64, len(outcomes))
	for i, o := range outcomes {
		ids[i] = o.DeliveryID
	}
	_, err := db.ExecContext(ctx, "DELETE FROM webhook_flights WHERE tenant_id = ? AND endpoint_id = ? AND delivery_id IN (?)", endpoint.TenantID, endpoint.ID, bun.List(ids))
	if err != nil {
		return fmt.Errorf("count flights out: %w", err)
	}
	return nil
}

// unqueue has Due offer again what a task was made for and did not get to.
func unqueue(ctx context.Context, db bun.IDB, endpoint Endpoint, ids []int64) error {
	_, err := db.ExecContext(ctx, `
UPDATE webhook_deliveries
SET queued_until = NULL
WHERE tenant_id = ?
  AND endpoint_id = ?
  AND id IN (?)
  AND status = 'pending'
  AND queued_until IS NOT NULL
  AND lease_until IS NULL`, endpoint.TenantID, endpoint.ID, bun.List(ids))
	if err != nil {
		return postgres.MapError(fmt.Errorf("offer deliveries again: %w", err))
	}
	return nil
}
