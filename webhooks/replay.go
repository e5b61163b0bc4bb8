package webhooks

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// EnabledEndpoint is the result of Enable.
type EnabledEndpoint struct {
	Endpoint
	// Replayed says that Enable was called with a since, Requeued how many events are sent again.
	Replayed bool
	Requeued int
}

// Enable enables an endpoint and releases its held deliveries; an enabled endpoint stays as it is.
// With a since that is not zero the endpoint also gets the events since then that it wants and has
// not received: missed while it was disabled or not subscribed, or failed. They are sent in the
// order of the feed, to an ordered endpoint the failed ones first, each once, with a new schedule.
// Events that were deleted, or are older than the endpoint or the retention, are not sent.
// Errors: NotFound, Invalid invalid-request (since in the future, or more than Policy.MaxReplay
// events to send: nothing is changed).
func (s *Service) Enable(ctx context.Context, ref workspaces.Ref, id EndpointID, since time.Time) (EnabledEndpoint, error) {
	now := s.moment()
	if since.After(now) {
		return EnabledEndpoint{}, fault.InvalidField("since", "future", "since must not lie in the future: events since then are sent again.")
	}
	enabled := EnabledEndpoint{Replayed: !since.IsZero()}
	if s.retention > 0 && since.Before(now.Add(-s.retention)) {
		// An older event may still be there, for another endpoint, without the delivery that shows that
		// this one received it.
		since = now.Add(-s.retention)
	}
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		endpoint, err := lockEndpoint(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		endpoint.setStatus(Enabled)
		endpoint.UpdatedAt = now
		if err := updateEndpoint(ctx, tx, endpoint); err != nil {
			return err
		}
		enabled.Endpoint, enabled.Requeued = endpoint, 0
		if enabled.Replayed {
			if enabled.Requeued, err = replay(ctx, tx, endpoint, since, now, s.policy.MaxReplay); err != nil {
				return err
			}
		}
		return holdOrRelease(ctx, tx, endpoint, now)
	})
	if err == nil && enabled.Replayed {
		s.log.InfoContext(ctx, "webhook events sent again", telemetry.KeyEndpointID, string(id), telemetry.KeyCount, enabled.Requeued)
	}
	return enabled, err
}

// replay makes due the events since then that the endpoint, which the transaction has enabled, has
// not received. Up to the present end of the feed it works beside the relay. Then it stops the
// relay and adds the events that were relayed meanwhile; the relay makes the deliveries of all
// later ones. It changes nothing when there are more events than most: the transaction would be
// long and the endpoint locked.
func replay(ctx context.Context, tx bun.Tx, endpoint Endpoint, since, now time.Time, most int) (int, error) {
	last, err := events.LastPosition(ctx, tx, string(endpoint.TenantID), string(endpoint.WorkspaceID))
	if err != nil {
		return 0, err
	}
	before, err := requeue(ctx, tx, endpoint, span{since: since, upTo: last, most: most}, now)
	if err != nil {
		return 0, err
	}
	if before > most {
		return 0, fault.InvalidField("since", "too_many",
			"More than %d events since then have not been received; choose a later since, or read them from the feed of events.", most)
	}
	if err := events.LockRelay(ctx, tx); err != nil {
		return 0, err
	}
	after, err := requeue(ctx, tx, endpoint, span{since: since, after: last, upTo: math.MaxInt64, most: most}, now)
	return before + after, err
}

// span is a part of the feed: the first most+1 events of since or later with positions above after,
// up to upTo.
type span struct {
	since       time.Time
	after, upTo int64
	most        int
}

// requeue makes due the events of a part of the feed that the endpoint wants and has not received,
// and counts them. Pending deliveries stay as they are. The due times differ by a microsecond,
// because the deliveries of an endpoint that is not ordered are sent in the order of these times.
func requeue(ctx context.Context, tx bun.Tx, endpoint Endpoint, part span, now time.Time) (int, error) {
	var n int
	err := tx.NewRaw(`
WITH made AS (
    INSERT INTO webhook_deliveries AS d
        (tenant_id, workspace_id, endpoint_id, event_id, event_seq, event_type, agent_id, status, next_at, created_at)
    SELECT e.tenant_id,
           e.workspace_id,
           e.id,
           ev.event_id,
           ev.seq,
           ev.type,
           `+agentOfEvent+`,
           'pending',
           ?::timestamptz - (count(*) OVER () - row_number() OVER (ORDER BY ev.position)) * interval '1 microsecond',
           ?
    FROM webhook_endpoints AS e
    JOIN events AS ev
      ON ev.tenant_id = e.tenant_id
     AND ev.workspace_id IN (e.workspace_id, '')
    WHERE e.tenant_id = ?
      AND e.id = ?
      AND ev.tenant_id = ?
      AND ev.workspace_id IN (?, '')
      AND ev.position > ?
      AND ev.position <= ?
      AND ev.created_at >= ?
      AND ev.created_at >= e.created_at
      AND NOT ev.erased
      AND `+subscribed+`
      AND NOT (ev.type = 'webhook.disabled' AND ev.subject = e.id)
      AND NOT EXISTS (
          SELECT
          FROM webhook_deliveries AS had
          WHERE had.tenant_id = e.tenant_id
            AND had.endpoint_id = e.id
            AND had.event_id = ev.event_id
            AND had.status <> 'failed'
      )
    ORDER BY ev.position
    LIMIT ?
    ON CONFLICT (endpoint_id, event_id) DO UPDATE
    SET next_at = excluded.next_at,
        `+restartSchedule+`
    WHERE d.status = 'failed'
      AND d.tenant_id = excluded.tenant_id
    RETURNING id, tenant_id, workspace_id, attempt
), metered AS (`+meterMade+`
)
SELECT count(*) FROM made`, now, now, endpoint.TenantID, endpoint.ID, endpoint.TenantID, endpoint.WorkspaceID,
		part.after, part.upTo, part.since, part.most+1).Scan(ctx, &n)
	if err != nil {
		return 0, fmt.Errorf("make missed deliveries due: %w", err)
	}
	return n, nil
}
