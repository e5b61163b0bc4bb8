package audit

import (
	"bytes"
	"context"
	"strings"
)

// Invariants of what endpoints received.
const (
	authentic   = "endpoints receive what they can believe, and the bytes that are stored"
	trueSuccess = "a success that is recorded was answered so"
	noForgotten = "a success that was answered is recorded, or its attempt as unknown"
	attempted   = "an endpoint gets no more requests than there are attempts"
	fannedOut   = "every event has its delivery to every endpoint that was for it"
	intended    = "a tool is called only as a turn says, once a call"
	capped      = "a tool is not called more often than its cap"
)

// delivery is a row with its attempts summed up.
type delivery struct {
	Key                        string // url and event id
	Status                     string
	Body                       []byte
	Attempts, Unknown, Answers int
	// Succeeded is more than one when a worker came back to an attempt whose lease had passed: what
	// it was answered counts.
	Succeeded int
	History   string // of the attempts, for people
}

const deliveriesSQL = `
SELECT e.url || ' ' || d.event_id,
       d.status,
       coalesce(d.test_body, ev.body),
       count(a.id)::int,
       count(a.id) FILTER (WHERE a.status = 'unknown' OR a.status_code = 0)::int,
       count(a.id) FILTER (WHERE a.status_code <> 0)::int,
       count(a.id) FILTER (WHERE a.status = 'succeeded')::int,
       coalesce(string_agg(a.status || ' ' || a.status_code || ' ' || a.started_at || ' ' || a.duration_ms, '; ' ORDER BY a.attempt), '')
FROM webhook_deliveries AS d
JOIN webhook_endpoints AS e ON e.id = d.endpoint_id
LEFT JOIN events AS ev ON ev.seq = d.event_seq
LEFT JOIN webhook_attempts AS a ON a.delivery_id = d.id
GROUP BY e.url, d.id, ev.seq`

// checkReceived holds what endpoints got against deliveries and attempts. Requests for endpoints
// that were deleted since have no rows to be held against.
func (a *auditor) checkReceived(ctx context.Context) error {
	deliveries, err := query[delivery](ctx, a.conn, deliveriesSQL)
	if err != nil {
		return err
	}
	got := map[string][]Received{}
	for _, r := range a.Received {
		a.looked(authentic, 1)
		if r.Err != nil {
			a.found(authentic, "%s at %s: %v", r.EventID, r.URL, r.Err)
		}
		got[r.URL+" "+r.EventID] = append(got[r.URL+" "+r.EventID], r)
	}
	for _, d := range deliveries {
		a.checkDelivery(d, got[d.Key])
	}
	return a.checkFanOut(ctx)
}

func (a *auditor) checkDelivery(d delivery, requests []Received) {
	successes := 0
	for _, r := range requests {
		if r.Status >= 200 && r.Status < 300 {
			successes++
		}
		if !bytes.Equal(r.Body, d.Body) {
			a.found(authentic, "%s came with another body than the stored one", d.Key)
		}
	}
	a.looked(trueSuccess, 1)
	if d.Status == "succeeded" && successes == 0 {
		a.found(trueSuccess, "%s: %d requests came, none was answered 2xx", d.Key, len(requests))
	}
	a.looked(noForgotten, successes)
	if successes > d.Succeeded+d.Unknown {
		a.found(noForgotten, "%s is %s: %d answers 2xx, %d attempts of unknown outcome (%s)", d.Key, d.Status, successes, d.Unknown, d.History)
	}
	a.looked(attempted, 1)
	if len(requests) > d.Attempts || len(requests) < d.Answers {
		a.found(attempted, "%s: %d requests, %d attempts, of which %d were answered", d.Key, len(requests), d.Attempts, d.Answers)
	}
}

const missingSQL = `
SELECT ev.event_id || ' (' || ev.type || ') to ' || e.id
FROM webhook_endpoints AS e
JOIN events AS ev ON ev.tenant_id = e.tenant_id AND ev.workspace_id IN (e.workspace_id, '') AND left(ev.type, 1) <> '_'
WHERE e.id = ANY ($1)
  AND ev.type = ANY (e.events)
  AND NOT EXISTS (SELECT FROM webhook_deliveries AS d WHERE d.endpoint_id = e.id AND d.event_id = ev.event_id)`

// checkFanOut requires a delivery of each event to each faithful endpoint.
func (a *auditor) checkFanOut(ctx context.Context) error {
	var n int
	err := a.conn.QueryRow(ctx, `SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = ANY ($1)`, a.Faithful).Scan(&n)
	if err != nil {
		return err
	}
	a.looked(fannedOut, n)
	missing, err := query[struct{ What string }](ctx, a.conn, missingSQL, a.Faithful)
	if err != nil {
		return err
	}
	for _, m := range missing {
		a.found(fannedOut, "%s is missing", m.What)
	}
	return nil
}

// checkCalled holds what tools' endpoints got against the calls that turns say were made.
func (a *auditor) checkCalled(ctx context.Context) error {
	intents, err := query[struct{ Messages string }](ctx, a.conn, "SELECT messages::text FROM turns WHERE messages::text LIKE '%call\\_%'")
	if err != nil {
		return err
	}
	var said strings.Builder
	for _, intent := range intents {
		said.WriteString(intent.Messages)
	}
	times := map[string]int{}
	bodies := map[string]string{}
	for _, call := range a.Called {
		a.looked(intended, 1)
		if times[call.IdempotencyKey]++; times[call.IdempotencyKey] > 1 && call.Method == "POST" {
			a.found(intended, "%s came %d times", call.IdempotencyKey, times[call.IdempotencyKey])
		}
		if body, again := bodies[call.IdempotencyKey]; again && body != call.Body {
			a.found(intended, "%s came with two bodies", call.IdempotencyKey)
		}
		bodies[call.IdempotencyKey] = call.Body
		if !strings.Contains(said.String(), call.IdempotencyKey) {
			a.found(intended, "%q (%s %s) is in no turn", call.IdempotencyKey, call.Method, call.Body)
		}
	}
	over, err := query[struct{ What string }](ctx, a.conn, `
		SELECT c.session_id || ' calls ' || c.tool_id || ' ' || c.calls || ' times, its cap is ' || t.max_calls_per_session
		FROM tool_call_counts AS c
		JOIN sessions AS s ON s.id = c.session_id
		JOIN tool_attachments AS t ON t.agent_id = s.agent_id AND t.tool_id = c.tool_id
		WHERE t.max_calls_per_session > 0 AND c.calls > t.max_calls_per_session`)
	if err != nil {
		return err
	}
	a.looked(capped, len(times))
	for _, o := range over {
		a.found(capped, "%s", o.What)
	}
	return nil
}
