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

// EnabledEndpoint is an endpoint that Enable was asked for.
type EnabledEndpoint struct {
	Endpoint
	// Replayed says that what was missed was asked for, and Requeued how many events that are.
	Replayed bool
	Requeued int
}

// Enable ends the disabling of an endpoint and releases what was held for it; one that is
// enabled stays as it is. With a since that is not zero the endpoint also gets what it would have
// got of the events of that time and later, and has not received: missed while it was disabled or
// not subscribed, or given up. They come in the order of the feed, each once, with a schedule that
// begins anew; what is no longer kept, or happened before the endpoint was made, does not come.
// Errors: NotFound, Invalid invalid-request (since in the future, or more than Policy.MaxReplay events
// to send since then: nothing is changed).
func (s *Service) Enable(ctx context.Context, ref workspaces.Ref, id EndpointID, since time.Time) (EnabledEndpoint, error) {
	now := s.moment()
	if since.After(now) {
		return EnabledEndpoint{}, fault.InvalidField("since", "future", "since must not lie in the future: it says from when on events are sent anew.")
	}
	enabled := EnabledEndpoint{Replayed: !since.IsZero()}
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		endpoint, err := lockEndpoint(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if endpoint.Status == Disabled {
			endpoint.Status, endpoint.DisabledReason, endpoint.ConsecutiveFailures = Enabled, "", 0
		}
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
		s.log.InfoContext(ctx, "webhook events sent anew", telemetry.KeyEndpointID, string(id), telemetry.KeyCount, enabled.Requeued)
	}
	return enabled, err
}

// replay makes due what the endpoint, which the transaction has enabled, has not received since
// then. Most of it is looked for beside the relay; what that relays meanwhile, while it waits: from
// then on it makes the deliveries itself, so that none is left out.
// It does nothing when there are more than most: the transaction would be long, and the endpoint locked.
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
		return 0, fault.InvalidField("since", "too_many", "More than %d events since then have not been received; choose a later since, or read them from the feed of events.", most)
	}
	if err := events.LockRelay(ctx, tx); err != nil {
		return 0, err
	}
	after, err := requeue(ctx, tx, endpoint, span{since: since, after: last, upTo: math.MaxInt64, most: most}, now)
	return before + after, err
}

// span is a part of the feed: positions from behind after to upTo, of since or later, most and one
// more of them.
type span struct {
	since       time.Time
	after, upTo int64
	most        int
}

// requeue makes due, in the order of the feed, what the endpoint wants of a part of it and has not
// received, one more than part.most at most. What is pending stays as it is. The times differ by a microsecond, for endpoints
// that are not ordered are served by them.
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
        `+beginAnew+`
    WHERE d.status = 'failed'
      AND d.tenant_id = excluded.tenant_id
    RETURNING id
)
SELECT count(*) FROM made`, now, now, endpoint.TenantID, endpoint.ID, endpoint.TenantID, endpoint.WorkspaceID,
		part.after, part.upTo, part.since, part.most+1).Scan(ctx, &n)
	if err != nil {
		return 0, fmt.Errorf("make missed deliveries due: %w", err)
	}
	return n, nil
}
