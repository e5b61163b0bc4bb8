package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// attemptsQuery reads attempts with columns of their deliveries and events. next_attempt_at is read
// from the delivery, which may have been sent again or held since the attempt.
func attemptsQuery(q *bun.SelectQuery, ref workspaces.Ref, id EndpointID) *bun.SelectQuery {
	return q.ColumnExpr("wa.*").ColumnExpr("d.event_id, d.event_type").
		ColumnExpr("coalesce(d.test_body, ev.body) AS request_body").
		ColumnExpr("CASE WHEN d.status = 'pending' AND d.attempt = wa.attempt AND d.lease_until IS NULL THEN d.next_at END AS next_attempt_at").
		Join("JOIN webhook_deliveries AS d ON d.tenant_id = wa.tenant_id AND d.id = wa.delivery_id").
		Join("LEFT JOIN events AS ev ON ev.tenant_id = d.tenant_id AND ev.seq = d.event_seq").
		Apply(attemptsOf(ref, id))
}

// attemptsOf filters the attempts of an endpoint.
func attemptsOf(ref workspaces.Ref, id EndpointID) func(*bun.SelectQuery) *bun.SelectQuery {
	return func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("wa.tenant_id = ?", ref.TenantID).Where("wa.workspace_id = ?", ref.ID).Where("wa.endpoint_id = ?", id)
	}
}

func selectAttempt(ctx context.Context, db bun.IDB, ref workspaces.Ref, id EndpointID, attempt AttemptID) (Attempt, error) {
	var a Attempt
	err := attemptsQuery(db.NewSelect().Model(&a), ref, id).Where("wa.id = ?", attempt).Scan(ctx)
	return a, postgres.OrNoSuch(err, "webhook delivery", string(attempt))
}

// delivery is the columns that Redeliver reads.
type delivery struct {
	bun.BaseModel `bun:"table:webhook_deliveries,alias:d"`

	ID         int64     `bun:"id,pk"`
	Status     string    `bun:"status"`
	Attempt    int       `bun:"attempt"`
	NextAt     time.Time `bun:"next_at,nullzero"`
	LeaseUntil time.Time `bun:"lease_until,nullzero"`
	Once       bool      `bun:"once"`
	AgentID    string    `bun:"agent_id"`
	Erased     bool      `bun:"erased"`
	Test       bool      `bun:"test,scanonly"`
}

// Redeliver makes the delivery of an attempt due now and returns its next attempt (pending), which
// has the next number and the same event id. A pending delivery continues its schedule afterwards,
// for which this attempt does not count; a finished one gets this attempt only. A second call
// before the attempt begins returns the same attempt. Errors: NotFound; Aborted conflict while an
// attempt runs, and when the endpoint is not enabled or not subscribed to the event, or the event
// was erased.
func (s *Service) Redeliver(ctx context.Context, ref workspaces.Ref, id EndpointID, attempt AttemptID) (Attempt, error) {
	now := s.moment()
	newID := AttemptID(idgen.New(idgen.Delivery))
	var next Attempt
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		endpoint, err := lockEndpoint(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		before, err := selectAttempt(ctx, tx, ref, id, attempt)
		if err != nil {
			return err
		}
		if next, err = redeliver(ctx, tx, endpoint, before, newID, now); err != nil {
			return err
		}
		next, err = selectAttempt(ctx, tx, ref, id, next.ID)
		return err
	})
	return next, err
}

func redeliver(ctx context.Context, tx bun.Tx, endpoint Endpoint, before Attempt, newID AttemptID, now time.Time) (Attempt, error) {
	d := delivery{ID: before.DeliveryID}
	err := tx.NewSelect().Model(&d).WherePK().Where("d.tenant_id = ?", endpoint.TenantID).
		ColumnExpr("d.id, d.status, d.attempt, d.next_at, d.lease_until, d.once, d.agent_id, d.erased, d.test_body IS NOT NULL AS test").
		For("UPDATE").Scan(ctx)
	if err != nil {
		return Attempt{}, fmt.Errorf("lock webhook delivery: %w", err)
	}
	if err := endpoint.checkEnabled(); err != nil {
		return Attempt{}, err
	}
	switch {
	case d.Erased:
		return Attempt{}, fault.New(fault.Conflict, "The event was about a user or session that was erased; there is nothing left to send.")
	case !d.Test && !endpoint.subscribes(before.EventType):
		return Attempt{}, fault.New(fault.Conflict, "The endpoint does not subscribe to %s; subscribe to it first.", before.EventType)
	case !d.Test && !endpoint.wantsAgent(d.AgentID):
		return Attempt{}, fault.New(fault.Conflict, "The endpoint does not get the events of this agent; add it to agent_ids first.")
	case d.LeaseUntil.After(now):
		return Attempt{}, fault.New(fault.Conflict, "An attempt of this delivery is running; ask again when it has ended.")
	}
	if err := endLease(ctx, tx, endpoint, d.ID); err != nil {
		return Attempt{}, err
	}
	next := Attempt{
		ID: newID, TenantID: endpoint.TenantID, WorkspaceID: endpoint.WorkspaceID, EndpointID: endpoint.ID,
		DeliveryID: d.ID, Number: d.Attempt + 1, Status: AttemptPending,
		RequestHeaders: firstValues(nil), ResponseHeaders: firstValues(nil), StartedAt: now,
	}
	_, err = tx.NewInsert().Model(&next).On("CONFLICT (delivery_id, attempt) DO UPDATE").Set("started_at = excluded.started_at").
		Where("wa.tenant_id = excluded.tenant_id").Returning("id").Exec(ctx)
	if err != nil {
		return Attempt{}, fmt.Errorf("insert webhook attempt: %w", err)
	}
	once := d.Once || d.Status != deliveryPending
	_, err = tx.NewUpdate().Model(&d).Set("status = ?", deliveryPending).Set("next_at = ?", now).Set("queued_until = NULL").
		Set("once = ?", once).WherePK().Where("tenant_id = ?", endpoint.TenantID).Exec(ctx)
	if err != nil {
		return Attempt{}, fmt.Errorf("make webhook delivery due: %w", err)
	}
	return next, nil
}

// endLease takes a delivery from a worker whose lease has expired: its attempt becomes unknown, and
// a failure that it records later does not change the delivery (see recordSQL).
func endLease(ctx context.Context, tx bun.Tx, endpoint Endpoint, id int64) error {
	_, err := tx.ExecContext(ctx, `
WITH picked AS (
    SELECT d.*,
           true AS abandoned
    FROM webhook_deliveries AS d
    WHERE d.tenant_id = ?
      AND d.id = ?
      AND d.lease_until IS NOT NULL
), lost AS (`+insertLost+`
)
UPDATE webhook_deliveries AS d
SET lease_until = NULL,
    schedule_from = d.schedule_from + 1
FROM picked
WHERE d.tenant_id = picked.tenant_id
  AND d.id = picked.id`, endpoint.TenantID, id, lostText)
	if err != nil {
		return fmt.Errorf("end the lease of a webhook delivery: %w", err)
	}
	return nil
}

// Test sends one example of an event now, also to an endpoint that is not enabled, and returns the
// attempt. It is marked as a test in its body and by a header, is not retried and does not count
// for disabling. An empty name means the endpoint's first event. Errors: NotFound, Invalid
// webhook-event-unknown, Invalid invalid-request (no name, and an endpoint without events).
func (s *Service) Test(ctx context.Context, ref workspaces.Ref, id EndpointID, event string) (Attempt, error) {
	endpoint, err := selectEndpoint(ctx, s.db, ref, id)
	if err != nil {
		return Attempt{}, err
	}
	if event == "" && len(endpoint.Events) == 0 {
		return Attempt{}, fault.InvalidField("event", "required",
			"The endpoint subscribes to no events; name the one to send in event, such as post_call_transcription.")
	}
	if event == "" {
		event = string(endpoint.Events[0])
	}
	eventType, err := parseEvent("event", event)
	if err != nil {
		return Attempt{}, err
	}
	keys, err := openKeys(ctx, s.keyring, endpoint, s.moment())
	if err != nil {
		return Attempt{}, err
	}
	c, err := s.beginTest(ctx, endpoint, eventType)
	if err != nil {
		return Attempt{}, err
	}
	a, _ := s.send(ctx, endpoint.URL, messageOf(c, s.now()), keys)
	// The result is recorded although the caller may have hung up.
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.policy.RecordTimeout)
	defer cancel()
	if err := s.record(recording, []result{{endpoint: endpoint, outcome: s.decide(c, a)}}); err != nil {
		return Attempt{}, err
	}
	return selectAttempt(ctx, s.db, ref, id, c.AttemptID)
}

// beginTest inserts the delivery of a test and leases it. The delivery is not pending, so that no
// worker sends it.
func (s *Service) beginTest(ctx context.Context, endpoint Endpoint, eventType events.Type) (claimed, error) {
	now := s.moment()
	c := claimed{
		AttemptID: AttemptID(idgen.New(idgen.Delivery)), Attempt: 1, BeganAt: now, Test: true,
		EventID: idgen.New(idgen.Event), EventType: eventType,
	}
	about := string(endpoint.WorkspaceID)
	if eventType.TenantWide() {
		about = ""
	}
	body, err := events.Body(events.Event{
		ID: c.EventID, TenantID: string(endpoint.TenantID), WorkspaceID: about,
		Type: eventType, Payload: events.Example(eventType), CreatedAt: now, Test: true,
	})
	if err != nil {
		return claimed{}, err
	}
	c.Body = body
	err = s.db.NewRaw(`
INSERT INTO webhook_deliveries
    (tenant_id, workspace_id, endpoint_id, event_id, event_type, test_body, status, attempt, lease_until, created_at)
VALUES (?, ?, ?, ?, ?, ?, 'failed', 1, ?, ?)
RETURNING id`,
		endpoint.TenantID, endpoint.WorkspaceID, endpoint.ID, c.EventID, c.EventType, body, now.Add(s.leaseFor(1)), now).Scan(ctx, &c.DeliveryID)
	if err != nil {
		return claimed{}, postgres.MapError(fmt.Errorf("insert webhook test: %w", err))
	}
	return c, nil
}
