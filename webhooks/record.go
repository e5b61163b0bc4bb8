package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
)

// outcome is how an attempt ended and what its delivery becomes.
type outcome struct {
	claimed
	answer
	// Delivery is the delivery's new status; NextAt is set when it is pending.
	Delivery string
	NextAt   time.Time
	EndedAt  time.Time
	// Uncounted: a failure does not count for disabling the endpoint.
	Uncounted bool
}

// counts says whether it is a failure that counts for disabling the endpoint.
func (o outcome) counts() bool { return o.verdict != verdictSucceeded && !o.Test && !o.Uncounted }

func (o outcome) status() AttemptStatus {
	if o.verdict == verdictSucceeded {
		return AttemptSucceeded
	}
	return AttemptFailed
}

// decide turns an answer into an outcome. Source: decisions, Webhooks.
func (s *Service) decide(c claimed, a answer) outcome {
	o := outcome{claimed: c, answer: a, Delivery: deliveryFailed, EndedAt: s.moment()}
	switch {
	case a.verdict == verdictSucceeded:
		o.Delivery = deliverySucceeded
	case a.verdict == verdictRetry && !c.Once && !c.Test:
		if pause, ok := s.policy.pause(c.scheduled(), a.RetryAfter, s.chance()); ok {
			o.Delivery, o.NextAt = deliveryPending, o.EndedAt.Add(pause)
		}
	}
	return o
}

// at adapts the outcome of an attempt to its endpoint, which was before when the attempt began and
// is now. A failure says nothing about an endpoint that was changed or enabled meanwhile. A final
// answer of another URL, or to other headers, does not end the delivery.
func (o outcome) at(before, now Endpoint) outcome {
	if o.verdict == verdictSucceeded {
		return o
	}
	moved := before.URL != now.URL || !bytes.Equal(before.SealedHeaders, now.SealedHeaders)
	o.Uncounted = moved || before.changed(now)
	if moved && o.Delivery == deliveryFailed && !o.Once && !o.Test {
		o.Delivery, o.NextAt = deliveryPending, o.EndedAt
	}
	return o
}

// late says whether the attempt may have been taken for lost, by another worker or by Redeliver.
func (s *Service) late(o outcome) bool { return s.moment().Sub(o.BeganAt) >= s.policy.Timeout }

// plain says whether the result is a success that changes nothing beside its own delivery and
// attempt.
func (s *Service) plain(one result) bool {
	return one.outcome.verdict == verdictSucceeded && !s.late(one.outcome)
}

// record writes results of one endpoint, after waiting for its lock, and disables the endpoint in
// the same transaction when the results call for that.
func (s *Service) record(ctx context.Context, own []result) error {
	if !slices.ContainsFunc(own, func(one result) bool { return !s.plain(one) }) {
		_, err := writeResults(ctx, s.db, own, waitForLock)
		return postgres.MapError(err)
	}
	now, id := s.moment(), own[0].endpoint.ID
	var reason string
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		reason = ""
		endpoint, found, err := lockReceiver(ctx, tx, own[0].endpoint)
		if err != nil || !found {
			return err
		}
		current := slices.Clone(own)
		failed, gone := false, false
		for i, one := range own {
			o := one.outcome.at(one.endpoint, endpoint)
			current[i].outcome = o
			failed = failed || o.counts()
			gone = gone || o.counts() && o.verdict == verdictGone
		}
		written, err := writeResults(ctx, tx, current, waitForLock)
		if err != nil {
			return err
		}
		if err := endFurther(ctx, tx, endpoint, current); err != nil {
			return err
		}
		after := written[id]
		switch {
		case !failed || after.Status != Enabled:
			return nil
		case gone:
			reason = ReasonGone
		case s.policy.gaveUp(after, now):
			reason = ReasonFailures
		default:
			return nil
		}
		return disable(ctx, tx, after, reason, now)
	})
	if err == nil && reason != "" {
		s.log.InfoContext(ctx, "webhook endpoint disabled", telemetry.KeyEndpointID, string(id), telemetry.KeyReason, reason)
	}
	return err
}

// endpointRow is how results change their endpoint; recordSQL reads it from JSON.
type endpointRow struct {
	TenantID string `json:"tenant_id"`
	ID       string `json:"id"`
	// Failures counts the failures since the last success among the results. Tests do not count.
	Failures    int        `json:"failures"`
	LastSuccess *time.Time `json:"last_success"`
	LastFailure *time.Time `json:"last_failure"`
}

// resultRow is a result; recordSQL reads it from JSON.
type resultRow struct {
	EndpointID      EndpointID        `json:"endpoint_id"`
	DeliveryID      int64             `json:"delivery_id"`
	DeliveryStatus  string            `json:"delivery_status"`
	NextAt          *time.Time        `json:"next_at"`
	AttemptID       AttemptID         `json:"attempt_id"`
	Attempt         int               `json:"attempt"`
	Asked           bool              `json:"asked"`
	Status          AttemptStatus     `json:"status"`
	StatusCode      int               `json:"status_code"`
	DurationMS      int64             `json:"duration_ms"`
	Error           string            `json:"error"`
	RequestHeaders  map[string]string `json:"request_headers"`
	ResponseHeaders map[string]string `json:"response_headers"`
	ResponseBody    string            `json:"response_body"`
	StartedAt       time.Time         `json:"started_at"`
}

// rowsOf encodes results, which are in the order they ended, for recordSQL.
func rowsOf(results []result) (endpoints, attempts []byte, err error) {
	byID := map[EndpointID]*endpointRow{}
	rows := make([]resultRow, len(results))
	for i, one := range results {
		o := one.outcome
		rows[i] = resultRow{
			EndpointID: one.endpoint.ID, DeliveryID: o.DeliveryID, DeliveryStatus: o.Delivery, AttemptID: o.AttemptID,
			Attempt: o.Attempt, Asked: o.Asked, Status: o.status(), StatusCode: o.StatusCode, DurationMS: o.Duration.Milliseconds(), Error: o.Error,
			RequestHeaders: o.RequestHeaders, ResponseHeaders: o.ResponseHeaders, ResponseBody: o.ResponseBody, StartedAt: o.BeganAt,
		}
		if !o.NextAt.IsZero() {
			rows[i].NextAt = &o.NextAt
		}
		endpoint := byID[one.endpoint.ID]
		if endpoint == nil {
			endpoint = &endpointRow{TenantID: string(one.endpoint.TenantID), ID: string(one.endpoint.ID)}
			byID[one.endpoint.ID] = endpoint
		}
		endpoint.count(o)
	}
	list := make([]endpointRow, 0, len(byID))
	for _, endpoint := range byID {
		list = append(list, *endpoint)
	}
	slices.SortFunc(list, func(a, b endpointRow) int { return cmp.Compare(a.ID, b.ID) })
	if endpoints, err = json.Marshal(list); err != nil {
		return nil, nil, fmt.Errorf("encode endpoints: %w", err)
	}
	if attempts, err = json.Marshal(rows); err != nil {
		return nil, nil, fmt.Errorf("encode attempts: %w", err)
	}
	return endpoints, attempts, nil
}

func (e *endpointRow) count(o outcome) {
	switch {
	case o.Test:
	case o.verdict == verdictSucceeded:
		e.Failures, e.LastSuccess = 0, &o.EndedAt
	case o.counts():
		e.Failures++
		e.LastFailure = &o.EndedAt
	}
}

// lockMode says what recordSQL does with endpoints that another transaction has locked.
type lockMode string

const (
	waitForLock lockMode = ""
	skipLocked  lockMode = " SKIP LOCKED"
)

// attemptEnds is for an attempt whose row exists: Redeliver made it, another worker recorded it as
// unknown, or the version before this one wrote it when the attempt began.
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

// recordSQL locks the endpoints before their deliveries, as everyone does who locks both. A failure
// changes its delivery only while its worker has the lease, also an expired one: not after another
// worker or Redeliver took it.
func recordSQL(mode lockMode) string {
	return `
WITH locked AS (
    SELECT e.tenant_id,
           e.id,
           r.failures,
           r.last_success,
           r.last_failure
    FROM json_to_recordset(?::json) AS r (tenant_id text, id text, failures integer, last_success timestamptz, last_failure timestamptz)
    JOIN webhook_endpoints AS e ON e.tenant_id = r.tenant_id AND e.id = r.id
    ORDER BY e.id
    FOR NO KEY UPDATE OF e` + string(mode) + `
), e AS (
    UPDATE webhook_endpoints AS w
    SET consecutive_failures = CASE WHEN locked.last_success IS NULL THEN w.consecutive_failures ELSE 0 END + locked.failures,
        last_success_at = greatest(w.last_success_at, locked.last_success),
        last_failure_at = greatest(w.last_failure_at, locked.last_failure)
    FROM locked
    WHERE w.tenant_id = locked.tenant_id
      AND w.id = locked.id
    RETURNING w.*
), r AS (
    SELECT *
    FROM json_to_recordset(?::json) AS r (
        endpoint_id text, delivery_id bigint, delivery_status text, next_at timestamptz, attempt_id text, attempt integer, asked boolean,
        status text, status_code integer, duration_ms integer, error text,
        request_headers jsonb, response_headers jsonb, response_body text,
        started_at timestamptz
    )
), deliveries AS (
    UPDATE webhook_deliveries AS d
    SET status = r.delivery_status,
        next_at = CASE WHEN ` + wanted + ` THEN r.next_at END,
        schedule_from = d.schedule_from + r.asked::integer,
        lease_until = NULL,
        queued_until = NULL,
        once = false
    FROM r
    JOIN e ON e.id = r.endpoint_id
    WHERE d.tenant_id = e.tenant_id
      AND d.endpoint_id = e.id
      AND d.id = r.delivery_id
      AND (r.delivery_status = 'succeeded'
           OR d.attempt = r.attempt AND d.lease_until IS NOT NULL)
), flights AS (
    DELETE FROM webhook_flights AS f
    USING r
    JOIN e ON e.id = r.endpoint_id
    WHERE f.tenant_id = e.tenant_id
      AND f.endpoint_id = e.id
      AND f.delivery_id = r.delivery_id
), attempts AS (
    INSERT INTO webhook_attempts AS a
        (id, tenant_id, workspace_id, endpoint_id, delivery_id, attempt, status, status_code, duration_ms, error,
         request_headers, response_headers, response_body, started_at, next_attempt_at)
    SELECT r.attempt_id, e.tenant_id, e.workspace_id, e.id, d.id, r.attempt, r.status, r.status_code, r.duration_ms, r.error,
           r.request_headers, CASE WHEN d.erased THEN '{}' ELSE r.response_headers END,
           CASE WHEN d.erased THEN '' ELSE r.response_body END, r.started_at, r.next_at
    FROM r
    JOIN e ON e.id = r.endpoint_id
    JOIN webhook_deliveries AS d ON d.tenant_id = e.tenant_id AND d.endpoint_id = e.id AND d.id = r.delivery_id
    ` + attemptEnds + `
)
SELECT * FROM e`
}

// writeResults records attempts, deliveries and the state of endpoints in one statement, and
// returns the endpoints as they are then. A deleted endpoint is not among them, nor a locked one in
// mode skipLocked. A success counts although its lease has expired and another attempt has begun:
// an event that was received is not sent again.
func writeResults(ctx context.Context, db bun.IDB, results []result, mode lockMode) (map[EndpointID]Endpoint, error) {
	endpoints, attempts, err := rowsOf(results)
	if err != nil {
		return nil, err
	}
	var after []Endpoint
	statement := postgres.RawForAllTenants("results of many endpoints are written together", recordSQL(mode))
	err = db.NewRaw(statement, string(endpoints), string(attempts)).Scan(ctx, &after)
	if err != nil {
		return nil, fmt.Errorf("record attempts: %w", err)
	}
	written := make(map[EndpointID]Endpoint, len(after))
	for _, endpoint := range after {
		written[endpoint.ID] = endpoint
	}
	return written, nil
}

// furtherText is the error of an attempt that an earlier one made needless.
const furtherText = "An earlier attempt succeeded before this one had ended; it may not have been made."

// endFurther ends the attempts that Redeliver asked for after attempts that succeeded late. What
// has been received is not sent again, and a worker that is sending it writes down the answer.
func endFurther(ctx context.Context, tx bun.Tx, endpoint Endpoint, own []result) error {
	var deliveries []int64
	var attempts []int
	for _, one := range own {
		if one.outcome.verdict == verdictSucceeded {
			deliveries, attempts = append(deliveries, one.outcome.DeliveryID), append(attempts, one.outcome.Attempt)
		}
	}
	if len(deliveries) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `
WITH ended AS (
    UPDATE webhook_attempts AS a
    SET status = 'unknown',
        error = ?
    FROM unnest(?::bigint[], ?::integer[]) AS r (delivery_id, attempt)
    WHERE a.tenant_id = ?
      AND a.endpoint_id = ?
      AND a.delivery_id = r.delivery_id
      AND a.attempt > r.attempt
      AND a.status = 'pending'
    RETURNING a.delivery_id, a.attempt
)
UPDATE webhook_deliveries AS d
SET attempt = greatest(d.attempt, ended.attempt)
FROM ended
WHERE d.tenant_id = ?
  AND d.endpoint_id = ?
  AND d.id = ended.delivery_id`, furtherText, pgdialect.Array(deliveries), pgdialect.Array(attempts),
		endpoint.TenantID, endpoint.ID, endpoint.TenantID, endpoint.ID)
	if err != nil {
		return fmt.Errorf("end attempts after a late success: %w", err)
	}
	return nil
}

// disable ends deliveries to an enabled endpoint that the transaction has locked, and appends
// webhook.disabled.
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
		ConsecutiveFailures: int32(endpoint.ConsecutiveFailures),
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
