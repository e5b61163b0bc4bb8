package webhooks

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
)

// FannedOut is what FanOut made.
type FannedOut struct {
	// Queued are the deliveries to make tasks of; they count as queued from now on.
	Queued []Due
	// Waiting counts the others, which Due returns later.
	Waiting int
}

// fanOutSQL makes the deliveries of events and marks the first so many batches as queued. A batch
// has a rank: the first batches of all endpoints come first, then the second ones. What was made is
// metered, a record for each workspace.
const fanOutSQL = `
WITH made AS (
INSERT INTO webhook_deliveries
    (tenant_id, workspace_id, endpoint_id, event_id, event_seq, event_type, agent_id, status, next_at, queued_until, created_at)
SELECT tenant_id,
       workspace_id,
       endpoint_id,
       event_id,
       seq,
       type,
       agent_id,
       'pending',
       ?,
       CASE WHEN callable AND rank <= ? THEN ?::timestamptz END,
       ?
FROM (
    SELECT *,
           dense_rank() OVER (ORDER BY callable DESC, batch, endpoint_id) AS rank
    FROM (
        SELECT e.tenant_id,
               e.workspace_id,
               e.id AS endpoint_id,
               ev.event_id,
               ev.seq,
               ev.type,
               ` + agentOfEvent + ` AS agent_id,
               (row_number() OVER (PARTITION BY e.id ORDER BY ev.seq) - 1) / ? AS batch,
               e.status = 'enabled' AND e.id <> ALL (coalesce(?::text[], '{}')) AS callable
        FROM events AS ev
        JOIN webhook_endpoints AS e
          ON e.tenant_id = ev.tenant_id
         AND (ev.workspace_id = '' OR e.workspace_id = ev.workspace_id)
        WHERE ev.seq IN (?)
          AND e.status IN ('enabled', 'paused')
          AND ` + subscribed + `
          -- The endpoint that webhook.disabled is about (its subject) does not get it.
          AND NOT (ev.type = 'webhook.disabled' AND ev.subject = e.id)
    ) AS wanted
) AS ranked
ORDER BY seq, endpoint_id
ON CONFLICT (endpoint_id, event_id) DO NOTHING
RETURNING id, tenant_id, workspace_id, endpoint_id, attempt, queued_until IS NOT NULL AS queued
), metered AS (` + meterMade + `
)
SELECT id, tenant_id, endpoint_id, attempt, queued
FROM made
ORDER BY id`

// meterMade counts the deliveries of made as usage, but not one that is pending again after it
// failed.
const meterMade = `
    INSERT INTO usage_records (tenant_id, workspace_id, agent_id, source, meter, model, quantity, at)
    SELECT tenant_id, workspace_id, '', 'deliveries from ' || min(id), 'deliveries', '', count(*), now()
    FROM made
    WHERE attempt = 0
    GROUP BY tenant_id, workspace_id`

// FanOut makes the deliveries of public events in the transaction that marks them relayed: one for
// each enabled or paused endpoint of the workspace (of all workspaces, when the event is the
// tenant's) that subscribes to the event. A paused endpoint's are due too: the first task that
// finds them holds them under the endpoint's lock, so that none stays held after it was enabled.
// A repeat makes nothing. The caller makes tasks of up to maxBatches
// batches after commit (see Batches); the other deliveries wait for Due.
func (s *Service) FanOut(ctx context.Context, tx bun.IDB, rows []events.Row, maxBatches int) (FannedOut, error) {
	if len(rows) == 0 {
		return FannedOut{}, nil
	}
	seqs := make([]int64, len(rows))
	for i, row := range rows {
		seqs[i] = row.Seq
	}
	now := s.moment()
	var made []struct {
		Due
		Queued bool `bun:"queued"`
	}
	err := tx.NewRaw(postgres.RawForAllTenants("the relay serves all", fanOutSQL),
		now.Add(s.policy.Schedule[0]), maxBatches, now.Add(s.policy.Requeue), now,
		MaxBatch, pgdialect.Array(s.limiter.unavailable(now)), bun.List(seqs)).Scan(ctx, &made)
	if err != nil {
		return FannedOut{}, fmt.Errorf("fan out events: %w", err)
	}
	var fanned FannedOut
	for _, one := range made {
		if one.Queued {
			fanned.Queued = append(fanned.Queued, one.Due)
		}
	}
	fanned.Waiting = len(made) - len(fanned.Queued)
	return fanned, nil
}

// agentOfEvent is the agent that event ev is about, ” for none. Rows of older versions have no
// agent_id; their body has it.
const agentOfEvent = `coalesce(ev.agent_id, convert_from(ev.body, 'UTF8')::jsonb #>> '{data,agent_id}', '')`

// subscribed is the condition under which endpoint e wants event ev.
const subscribed = `ev.type = ANY (e.events)
  AND CASE WHEN e.agent_ids = '{}' THEN true ELSE ` + agentOfEvent + ` = ANY (e.agent_ids) END`
