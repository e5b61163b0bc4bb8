package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
)

// outcome is how an attempt went and what follows.
type outcome struct {
	claimed
	answer
	// Delivery is the delivery's status now; NextAt is set when it is pending.
	Delivery string
	NextAt   time.Time
	EndedAt  time.Time
}

func (o outcome) status() AttemptStatus {
	if o.verdict == verdictSucceeded {
		return AttemptSucceeded
	}
	return AttemptFailed
}

// decide says what follows an answer. Source: decisions, Webhooks.
func (s *Service) decide(c claimed, a answer) outcome {
	o := outcome{claimed: c, answer: a, Delivery: deliveryFailed, EndedAt: s.moment()}
	switch {
	case a.verdict == verdictSucceeded:
		o.Delivery = deliverySucceeded
	case a.verdict == verdictRetry && !c.Once && !c.Test:
		if pause, ok := s.policy.pause(c.Attempt-c.ScheduleFrom, a.RetryAfter, s.chance()); ok {
			o.Delivery, o.NextAt = deliveryPending, o.EndedAt.Add(pause)
		}
	}
	return o
}

// record writes outcomes down and disables the endpoint when they call for it.
func (s *Service) record(ctx context.Context, endpoint Endpoint, outcomes []outcome) error {
	tally := count(outcomes)
	if tally.failures == 0 {
		_, err := writeOutcomes(ctx, s.db, endpoint, outcomes, tally)
		return postgres.MapError(err)
	}
	now := s.moment()
	var disabled string
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		disabled = ""
		after, err := writeOutcomes(ctx, tx, endpoint, outcomes, tally)
		if err != nil || after.Status != Enabled {
			return err
		}
		switch {
		case tally.gone:
			disabled = ReasonGone
		case s.policy.gaveUp(after, now):
			disabled = ReasonFailures
		default:
			return nil
		}
		return disable(ctx, tx, after, disabled, now)
	})
	if err == nil && disabled != "" {
		s.log.InfoContext(ctx, "webhook endpoint disabled", telemetry.KeyEndpointID, string(endpoint.ID), telemetry.KeyReason, disabled)
	}
	return err
}

// tally is what outcomes mean for their endpoint. Tests do not count.
type tally struct {
	failures int
	// trailing counts the failures since the last success among the outcomes.
	trailing    int
	gone        bool
	lastSuccess bun.NullTime
	lastFailure bun.NullTime
}

// count takes outcomes in the order they ended.
func count(outcomes []outcome) tally {
	var t tally
	for _, o := range outcomes {
		switch {
		case o.Test:
		case o.verdict == verdictSucceeded:
			t.trailing, t.lastSuccess = 0, bun.NullTime{Time: o.EndedAt}
		default:
			t.failures++
			t.trailing++
			t.gone = t.gone || o.verdict == verdictGone
			t.lastFailure = bun.NullTime{Time: o.EndedAt}
		}
	}
	return t
}

// columns holds outcomes as arrays for unnest.
type columns struct {
	deliveries, attempts, codes, durations                                     []int64
	ids, delivery, status, errors, requestHeaders, responseHeaders, body, next []string
	began                                                                      []time.Time
}

func columnsOf(outcomes []outcome) (columns, error) {
	var c columns
	for _, o := range outcomes {
		request, err := json.Marshal(o.RequestHeaders)
		if err != nil {
			return columns{}, fmt.Errorf("encode request headers: %w", err)
		}
		response, err := json.Marshal(o.ResponseHeaders)
		if err != nil {
			return columns{}, fmt.Errorf("encode response headers: %w", err)
		}
		next := ""
		if !o.NextAt.IsZero() {
			next = o.NextAt.Format(time.RFC3339Nano)
		}
		c.ids = append(c.ids, string(o.AttemptID))
		c.began = append(c.began, o.BeganAt)
		c.deliveries = append(c.deliveries, o.DeliveryID)
		c.attempts = append(c.attempts, int64(o.Attempt))
		c.codes = append(c.codes, int64(o.StatusCode))
		c.durations = append(c.durations, o.Duration.Milliseconds())
		c.delivery = append(c.delivery, o.Delivery)
		c.status = append(c.status, string(o.status()))
		c.errors = append(c.errors, o.Error)
		c.requestHeaders = append(c.requestHeaders, string(request))
		c.responseHeaders = append(c.responseHeaders, string(response))
		c.body = append(c.body, o.ResponseBody)
		c.next = append(c.next, next)
	}
	return c, nil
}

// attemptEnds is for a row that is there: Redeliver has made it, somebody took us for dead, or the binary before has begun it.
const attemptEnds = `ON CONFLICT (delivery_id, attempt) DO UPDATE
    SET status = excluded.status,
        status_code = excluded.status_code,
        duration_ms = excluded.duration_ms,
        error = excluded.error,
        request_headers = excluded.request_headers,
        response_headers = excluded.response_headers,
        response_body = excluded.response_body,
        started_at = excluded.started_at,
        next_attempt_at = excluded.next_attempt_at
    WHERE a.tenant_id = excluded.tenant_id`

const recordSQL = `
WITH e AS (
    UPDATE webhook_endpoints
    SET consecutive_failures = CASE WHEN ?::timestamptz IS NULL THEN consecutive_failures ELSE 0 END + ?,
        last_success_at = greatest(last_success_at, ?::timestamptz),
        last_failure_at = greatest(last_failure_at, ?::timestamptz)
    WHERE tenant_id = ?
      AND id = ?
    RETURNING *
), r AS (
    SELECT *
    FROM unnest(?::text[], ?::timestamptz[], ?::bigint[], ?::integer[], ?::integer[], ?::integer[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
        AS r (attempt_id, started_at, delivery_id, attempt, status_code, duration_ms, delivery_status, status, error, request_headers, response_headers, response_body, next_at)
), own AS (
    SELECT d.tenant_id,
           d.workspace_id,
           d.endpoint_id,
           r.*
    FROM r
    CROSS JOIN e
    JOIN webhook_deliveries AS d ON d.tenant_id = e.tenant_id AND d.endpoint_id = e.id AND d.id = r.delivery_id
    FOR NO KEY UPDATE OF d
), deliveries AS (
    UPDATE webhook_deliveries AS d
    SET status = own.delivery_status,
        next_at = CASE WHEN ` + wanted + ` THEN nullif(own.next_at, '')::timestamptz END,
        lease_until = NULL,
        queued_until = NULL,
        once = false
    FROM own CROSS JOIN e
    WHERE d.tenant_id = own.tenant_id
      AND d.id = own.delivery_id
      AND (d.status = 'pending' OR d.test_body IS NOT NULL)
      AND (d.attempt = own.attempt OR own.delivery_status = 'succeeded')
), attempts AS (
    INSERT INTO webhook_attempts AS a
        (id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, status, status_code, duration_ms, error,
         request_headers, response_headers, response_body, started_at, next_attempt_at)
    SELECT attempt_id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, status, status_code, duration_ms, error,
           request_headers::jsonb, response_headers::jsonb, response_body, started_at, nullif(next_at, '')::timestamptz
    FROM own
    ` + attemptEnds + `
)
SELECT * FROM e`

// writeOutcomes records attempts, deliveries and the endpoint's state in one statement and
// returns the endpoint after it; the zero Endpoint when it was deleted meanwhile. The endpoint
// is locked first (the others join it). A success counts even when its lease has passed and
// another attempt has begun: what was received is not sent again.
func writeOutcomes(ctx context.Context, db bun.IDB, endpoint Endpoint, outcomes []outcome, t tally) (Endpoint, error) {
	c, err := columnsOf(outcomes)
	if err != nil {
		return Endpoint{}, err
	}
	var after []Endpoint
	err = db.NewRaw(recordSQL,
		t.lastSuccess, t.trailing, t.lastSuccess, t.lastFailure, endpoint.TenantID, endpoint.ID,
		pgdialect.Array(c.ids), pgdialect.Array(c.began), pgdialect.Array(c.deliveries), pgdialect.Array(c.attempts), pgdialect.Array(c.codes), pgdialect.Array(c.durations),
		pgdialect.Array(c.delivery), pgdialect.Array(c.status), pgdialect.Array(c.errors), pgdialect.Array(c.requestHeaders),
		pgdialect.Array(c.responseHeaders), pgdialect.Array(c.body), pgdialect.Array(c.next)).Scan(ctx, &after)
	if err != nil {
		return Endpoint{}, fmt.Errorf("record attempts: %w", err)
	}
	if len(after) == 0 {
		return Endpoint{}, nil
	}
	return after[0], nil
}

// disable ends deliveries to an enabled endpoint that the transaction has locked, and says so.
func disable(ctx context.Context, tx bun.Tx, endpoint Endpoint, reason string, now time.Time) error {
	endpoint.Status, endpoint.DisabledReason, endpoint.UpdatedAt = Disabled, reason, now
	if err := updateEndpoint(ctx, tx, endpoint); err != nil {
		return err
	}
	if err := holdOrRelease(ctx, tx, endpoint, now); err != nil {
		return err
	}
	payload := &events.WebhookDisabledData{
		EndpointId: string(endpoint.ID), Url: endpoint.URL, Reason: reason,
		ConsecutiveFailures: int32(endpoint.ConsecutiveFailures), //nolint:gosec // an integer column
		DisabledAt:          timestamppb.New(now),
	}
	if !endpoint.LastSuccessAt.IsZero() {
		payload.LastSuccessAt = timestamppb.New(endpoint.LastSuccessAt)
	}
	_, err := events.Append(ctx, tx, events.Event{
		TenantID: string(endpoint.TenantID), WorkspaceID: string(endpoint.WorkspaceID),
		Type: events.WebhookDisabled, Subject: string(endpoint.ID), Payload: payload, CreatedAt: now,
	})
	return err
}
