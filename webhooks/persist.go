package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// How long writing a result down waits before it is tried again.
const (
	persistPause    = 100 * time.Millisecond
	persistPauseMax = time.Second
)

// persist writes outcomes of one endpoint down, again and again as long as their task lives: an
// endpoint that another transaction has locked, or a database that is started again, must not make
// an answer unknown, and the event be sent once more. Until then the claims stay this worker's. A try
// whose end is unknown may count a failure twice.
func (s *Service) persist(ctx context.Context, endpoint Endpoint, outcomes []outcome) error {
	for pause := persistPause; ; pause = min(2*pause, persistPauseMax) {
		err := s.tryPersist(ctx, endpoint, outcomes)
		if err == nil || !passes(err) || ctx.Err() != nil {
			return err
		}
		err = errors.Join(err, s.renew(ctx, endpoint, outcomes))
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// tryPersist tries once, although the task was cancelled: what is known is written down.
func (s *Service) tryPersist(ctx context.Context, endpoint Endpoint, outcomes []outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.policy.RecordTimeout)
	defer cancel()
	err := s.record(ctx, endpoint, outcomes)
	if err == nil {
		err = land(ctx, s.db, endpoint, outcomes)
	}
	return err
}

// passes says that what failed may go well later.
func passes(err error) bool {
	kind := postgres.Decide(err).Kind()
	return kind == fault.Unavailable || kind == fault.Aborted || kind == fault.Timeout
}

// renew lets the claims of outcomes go on, where nobody else has begun the next attempt.
func (s *Service) renew(ctx context.Context, endpoint Endpoint, outcomes []outcome) error {
	ctx, cancel := context.WithTimeout(ctx, s.policy.RecordTimeout)
	defer cancel()
	deliveries, attempts := make([]int64, len(outcomes)), make([]int, len(outcomes))
	for i, o := range outcomes {
		deliveries[i], attempts[i] = o.DeliveryID, o.Attempt
	}
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
  AND d.lease_until IS NOT NULL`, lease, pgdialect.Array(deliveries), pgdialect.Array(attempts), endpoint.TenantID, endpoint.ID).Exec(ctx)
	if err != nil {
		return postgres.MapError(fmt.Errorf("renew claims: %w", err))
	}
	return nil
}
