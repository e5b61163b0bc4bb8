package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// MaxRecover is how many deliveries one call of Recover makes due at most.
const MaxRecover = 10_000

// Recovered is the result of Recover.
type Recovered struct {
	// Deliveries counts the deliveries that are due again.
	Deliveries int
	// More says that MaxRecover was reached.
	More bool
}

// restartSchedule makes a failed delivery d pending with a schedule that begins anew; next_at is
// the statement's own.
const restartSchedule = `status = 'pending',
    queued_until = NULL,
    once = false,
    schedule_from = d.attempt`

// recoverSQL makes the oldest failed deliveries due with a new schedule.
const recoverSQL = `
WITH failed AS (
    SELECT d.id
    FROM webhook_deliveries AS d
    JOIN webhook_endpoints AS e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
    WHERE d.tenant_id = ?
      AND d.endpoint_id = ?
      AND d.status = 'failed'
      AND d.test_body IS NULL
      AND d.created_at >= ?
      AND ` + wanted + `
    ORDER BY d.created_at, d.id
    LIMIT ?
    FOR UPDATE OF d
)
UPDATE webhook_deliveries AS d
SET next_at = ?,
    ` + restartSchedule + `
FROM failed
WHERE d.tenant_id = ?
  AND d.id = failed.id
  AND d.status = 'failed'`

// Recover sends the failed deliveries of a time and later again, the oldest first, MaxRecover at
// most. Pending deliveries stay as they are, so that a second call makes nothing due twice.
// Errors: NotFound; Invalid invalid-request (since); Aborted conflict when the endpoint is
// not enabled.
func (s *Service) Recover(ctx context.Context, ref workspaces.Ref, id EndpointID, since time.Time) (Recovered, error) {
	now := s.moment()
	if since.IsZero() {
		return Recovered{}, fault.InvalidField("since", "required",
			"since is required: the time of the oldest event to send again.")
	}
	if since.After(now) {
		return Recovered{}, fault.InvalidField("since", "future", "since cannot be in the future.")
	}
	var done Recovered
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		endpoint, err := lockEndpoint(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if err := endpoint.checkEnabled(); err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, recoverSQL, endpoint.TenantID, endpoint.ID, since, MaxRecover, now, endpoint.TenantID)
		if err != nil {
			return fmt.Errorf("recover webhook deliveries: %w", err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return fmt.Errorf("count recovered webhook deliveries: %w", err)
		}
		done = Recovered{Deliveries: int(n), More: n == MaxRecover}
		return nil
	})
	return done, err
}
