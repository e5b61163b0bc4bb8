package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
)

// Room is how many batches (see Batches) of what FanOut makes get a task at once.
type Room struct {
	// Begin of them run in this process as soon as the transaction has ended, and are claimed in it.
	Begin int
	// Tasks counts all, those of Begin among them.
	Tasks int
}

// Fanned is what FanOut made.
type Fanned struct {
	// Due are those that get a task; they count as on their way.
	Due []Due
	// Left counts the others, which wait for Service.Due.
	Left int

	firsts []first
}

// madeDelivery is a row of FanOut's.
type madeDelivery struct {
	Due
	EventSeq int64  `bun:"event_seq"`
	AgentID  string `bun:"agent_id"`
	OnItsWay bool   `bun:"on_its_way"`
	Begun    bool   `bun:"begun"`
}

const fanOutSQL = `
INSERT INTO webhook_deliveries
    (tenant_id, workspace_id, endpoint_id, event_id, event_seq, event_type, agent_id, status, attempt, next_at, queued_until, claimed_at, lease_until, created_at)
SELECT tenant_id,
       workspace_id,
       endpoint_id,
       event_id,
       seq,
       type,
       agent_id,
       'pending',
       CASE WHEN free AND batch <= ? THEN 1 ELSE 0 END,
       ?,
       CASE WHEN batch <= ? AND NOT (free AND batch <= ?) THEN ?::timestamptz END,
       CASE WHEN free AND batch <= ? THEN ?::timestamptz END,
       CASE WHEN free AND batch <= ? THEN ?::timestamptz END,
       ?
FROM (
    SELECT *,
           dense_rank() OVER (ORDER BY place, endpoint_id) AS batch
    FROM (
        SELECT e.tenant_id,
               e.workspace_id,
               e.id AS endpoint_id,
               ev.event_id,
               ev.seq,
               ev.type,
               ` + agentOfEvent + ` AS agent_id,
               (row_number() OVER (PARTITION BY e.id ORDER BY ev.seq) - 1) / ? AS place,
               NOT e.ordered AND e.max_per_second = 0 AND e.max_in_flight = 0 AND e.id <> ALL (coalesce(?::text[], '{}')) AS free
        FROM events AS ev
        JOIN webhook_endpoints AS e
          ON e.tenant_id = ev.tenant_id
         AND (ev.workspace_id = '' OR e.workspace_id = ev.workspace_id)
        WHERE ev.seq IN (?)
          AND e.status = 'enabled'
          AND ` + subscribed + `
          -- The endpoint that webhook.disabled is about (its subject) does not get it.
          AND NOT (ev.type = 'webhook.disabled' AND ev.subject = e.id)
    ) AS wanted
) AS batched
ORDER BY seq, endpoint_id
ON CONFLICT (endpoint_id, event_id) DO NOTHING
RETURNING id, tenant_id, endpoint_id, attempt, event_seq, agent_id, queued_until IS NOT NULL OR lease_until IS NOT NULL AS on_its_way, lease_until IS NOT NULL AS begun`

// FanOut makes the deliveries of public events in the transaction that marks them relayed: one
// for each enabled endpoint of the workspace (of all workspaces, when the event is the tenant's)
// that subscribes to the event. A repeat makes nothing. For some of them there is room: the caller
// makes their tasks after commit, and calls Begin before. The others wait for Due.
func (s *Service) FanOut(ctx context.Context, tx bun.IDB, rows []events.Row, room Room) (Fanned, error) {
	if len(rows) == 0 {
		return Fanned{}, nil
	}
	seqs := make([]int64, len(rows))
	for i, row := range rows {
		seqs[i] = row.Seq
	}
	now := s.moment()
	lease := now.Add(s.leaseFor(MaxBatch) + begunWait)
	begin := room.Begin
	if s.policy.Schedule[0] > 0 {
		begin = 0 // they are not due yet
	}
	var made []madeDelivery
	err := tx.NewRaw(postgres.RawForAllTenants("the relay serves all", fanOutSQL),
		begin, now.Add(s.policy.Schedule[0]), room.Tasks, begin, now.Add(s.policy.Requeue), begin, now, begin, lease, now,
		MaxBatch, pgdialect.Array(s.slots.busy(now)), bun.List(seqs)).Scan(ctx, &made)
	if err != nil {
		return Fanned{}, fmt.Errorf("fan out events: %w", err)
	}
	var fanned Fanned
	for _, one := range made {
		if one.OnItsWay {
			fanned.Due = append(fanned.Due, one.Due)
		}
	}
	fanned.Left = len(made) - len(fanned.Due)
	fanned.firsts, err = beginnings(ctx, tx, rows, made, now, lease)
	return fanned, err
}

// Begin takes over what FanOut has claimed, when its transaction has been committed. Each of it then
// needs Deliver, PutOff or GiveBack.
func (s *Service) Begin(fanned Fanned) { s.begun.add(fanned.firsts) }

// agentOfEvent is the agent that event ev is about, ” for none. A row of before that was known says
// it in its body.
const agentOfEvent = `coalesce(ev.agent_id, convert_from(ev.body, 'UTF8')::jsonb #>> '{data,agent_id}', '')`

// subscribed is the condition under which endpoint e wants event ev.
const subscribed = `ev.type = ANY (e.events)
  AND CASE WHEN e.agent_ids = '{}' THEN true ELSE ` + agentOfEvent + ` = ANY (e.agent_ids) END`

// dueSQL picks batches: tenants take turns, in each turn one endpoint of the tenant gives one
// batch. Which endpoint is left to chance, so that none has to be remembered. An endpoint's
// stretch of the index is looked for with one probe, so what it costs grows with the endpoints
// that have something pending and not with what they have.
// Of an ordered endpoint only the first in its line is looked at: who delivers that one goes on with
// the others.
var dueSQL = `
WITH RECURSIVE ` + fair.RingSQL("webhook_deliveries", "w.status = 'pending' AND w.next_at IS NOT NULL") + `,
endpoints AS (
    SELECT ring.tenant_id,
           ring.place,
           own.endpoint_id,
           e.ordered
    FROM ring
    CROSS JOIN LATERAL (
        WITH RECURSIVE e AS (
            SELECT ''::text AS endpoint_id
            UNION ALL
            SELECT (
                SELECT w.endpoint_id
                FROM webhook_deliveries AS w
                WHERE w.tenant_id = ring.tenant_id
                  AND w.endpoint_id > e.endpoint_id
                  AND w.status = 'pending'
                  AND w.next_at IS NOT NULL
                ORDER BY w.endpoint_id
                LIMIT 1
            )
            FROM e
            WHERE e.endpoint_id IS NOT NULL
        )
        SELECT endpoint_id
        FROM e
        WHERE endpoint_id <> ''
    ) AS own
    JOIN webhook_endpoints AS e ON e.tenant_id = ring.tenant_id AND e.id = own.endpoint_id
    WHERE ring.tenant_id <> ALL (coalesce(?::text[], '{}'))
      AND own.endpoint_id <> ALL (coalesce(?::text[], '{}'))
), ripe AS (
    SELECT endpoints.place,
           endpoints.tenant_id,
           endpoints.endpoint_id,
           own.id,
           (row_number() OVER (PARTITION BY endpoints.endpoint_id ORDER BY own.next_at, own.id) - 1) / ? AS batch
    FROM endpoints
    CROSS JOIN LATERAL (
        (
            SELECT w.id,
                   w.next_at
            FROM webhook_deliveries AS w
            WHERE NOT endpoints.ordered
              AND w.tenant_id = endpoints.tenant_id
              AND w.endpoint_id = endpoints.endpoint_id
              AND w.status = 'pending'
              AND w.next_at <= ?
              AND (w.lease_until IS NULL OR w.lease_until < ?)
              AND (w.queued_until IS NULL OR w.queued_until < ?)
            ORDER BY w.next_at
            LIMIT ? * (SELECT greatest(?, ? / count(*)) FROM endpoints)
        )
        UNION ALL
        SELECT line.id,
               line.next_at
        FROM (
            SELECT w.id,
                   w.next_at,
                   w.lease_until,
                   w.queued_until
            FROM webhook_deliveries AS w
            WHERE endpoints.ordered
              AND w.tenant_id = endpoints.tenant_id
              AND w.endpoint_id = endpoints.endpoint_id
              AND w.status = 'pending'
              AND w.next_at IS NOT NULL
            ORDER BY w.id
            LIMIT 1
        ) AS line
        WHERE line.next_at <= ?
          AND (line.lease_until IS NULL OR line.lease_until < ?)
          AND (line.queued_until IS NULL OR line.queued_until < ?)
    ) AS own
), batches AS (
    SELECT place,
           endpoint_id,
           batch,
           turn
    FROM (
        SELECT place,
               tenant_id,
               endpoint_id,
               batch,
               row_number() OVER (PARTITION BY tenant_id ORDER BY batch, random()) AS turn
        FROM ripe
        GROUP BY place, tenant_id, endpoint_id, batch
    ) AS ordered
    LEFT JOIN unnest(coalesce(?::text[], '{}'), coalesce(?::bigint[], '{}')) AS held (tenant_id, batches) USING (tenant_id)
    WHERE turn <= ? - coalesce(held.batches, 0)
    ORDER BY turn, place
    LIMIT ?
), picked AS (
    SELECT d.id,
           batches.turn,
           batches.place
    FROM batches
    JOIN ripe USING (endpoint_id, batch)
    JOIN webhook_deliveries AS d ON d.id = ripe.id
    -- Another worker may have been faster.
    WHERE d.status = 'pending'
      AND (d.queued_until IS NULL OR d.queued_until < ?)
    FOR UPDATE OF d SKIP LOCKED
), handed AS (
    UPDATE webhook_deliveries AS d
    SET queued_until = ?
    FROM picked
    WHERE d.id = picked.id
    RETURNING d.id, d.tenant_id, d.endpoint_id, d.attempt, picked.turn, picked.place
)
SELECT id, tenant_id, endpoint_id, attempt
FROM handed
ORDER BY turn, place, endpoint_id, id`

// Due returns deliveries that should be sent by now and that no task is known to be on its way
// for, and counts them as on their way for Policy.Requeue: at most ask.Room batches (see
// Batches) of them, and of a tenant what its share leaves, in the order of the tenants' turns. Endpoints that cannot be called just now
// are passed over. Like all work of the worker it is for the whole installation.
func (s *Service) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]Due, error) {
	share := cmp.Or(ask.Share, math.MaxInt32)
	var tenants []string
	var batches []int64
	for tenant, n := range ask.Held {
		tenants, batches = append(tenants, tenant), append(batches, int64(n))
	}
	var due []Due
	err := s.db.NewRaw(postgres.RawForAllTenants("tenants take turns with their deliveries", dueSQL),
		ask.After, ask.After, ask.After, pgdialect.Array(ask.Except), pgdialect.Array(s.slots.busy(now)),
		MaxBatch, now, now, now, MaxBatch, callsPerEndpoint, ask.Room, now, now, now, pgdialect.Array(tenants), pgdialect.Array(batches), share, ask.Room, now, now.Add(s.policy.Requeue)).Scan(ctx, &due)
	if err != nil {
		return nil, postgres.MapError(fmt.Errorf("find due deliveries: %w", err))
	}
	return due, nil
}

// Subscribers names up to two tenants that have an enabled endpoint: enough to know whether
// deliveries are one tenant's alone.
func (s *Service) Subscribers(ctx context.Context) ([]string, error) {
	var tenants []string
	err := s.db.NewRaw(postgres.RawForAllTenants("whether there is more than one", `
SELECT tenant_id
FROM (
    SELECT min(tenant_id) AS tenant_id FROM webhook_endpoints WHERE status = 'enabled'
    UNION
    SELECT max(tenant_id) FROM webhook_endpoints WHERE status = 'enabled'
) AS ends
WHERE tenant_id IS NOT NULL`)).Scan(ctx, &tenants)
	if err != nil {
		return nil, postgres.MapError(fmt.Errorf("look for subscribers: %w", err))
	}
	return tenants, nil
}

// PutOff makes deliveries that nobody has claimed wait for a second, because their tenant has its
// share of the workers. Those that FanOut has claimed are given back.
func (s *Service) PutOff(ctx context.Context, batch Batch) error {
	if err := s.GiveBack(ctx, batch); err != nil {
		return err
	}
	return postpone(ctx, s.db, Endpoint{ID: batch.EndpointID, TenantID: batch.TenantID}, batch.IDs, s.moment().Add(busyPause))
}
