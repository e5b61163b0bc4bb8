package privacy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Bounds of one reading of what has expired: of an agent, and of all, so that an agent with a long
// past does not keep others waiting.
const (
	expiredOfAgent = 200
	expiredAtOnce  = 2000
)

// expiredSQL reads sessions that have ended longer ago than is kept. What the agent says counts,
// and where it says nothing, or is deleted, what the workspace says. A tenant's plan bounds it for
// sessions that were made since the tenant has the plan: a smaller plan deletes nothing that is
// there. Parameters: the names of plans and their days, the time, the bound of an agent, both again
// for plans, the bound of all.
const expiredSQL = `
WITH plan_days AS (
    SELECT name, days FROM unnest(?::text[], ?::integer[]) AS each (name, days)
),
kept AS (
    SELECT a.tenant_id,
           a.workspace_id,
           a.id AS agent_id,
           coalesce(nullif((a.config #>> '{privacy,retention,transcript_days}')::integer, 0), w.transcript_days) AS days
    FROM agents AS a
    JOIN workspaces AS w ON w.tenant_id = a.tenant_id AND w.id = a.workspace_id
    UNION ALL
    SELECT w.tenant_id,
           w.id,
           d.id, -- a deleted agent; those of other workspaces have no sessions in this one
           w.transcript_days
    FROM workspaces AS w
    JOIN tombstones AS d ON d.tenant_id = w.tenant_id AND d.id LIKE 'agt\_%'
)
SELECT kept.tenant_id,
       kept.workspace_id,
       expired.id
FROM kept
CROSS JOIN LATERAL (
    SELECT s.id
    FROM sessions AS s
    WHERE s.tenant_id = kept.tenant_id
      AND s.workspace_id = kept.workspace_id
      AND s.agent_id = kept.agent_id
      AND s.ended_at < ?::timestamptz - make_interval(days => kept.days)
    ORDER BY s.ended_at
    LIMIT ?
) AS expired
WHERE kept.days > 0
UNION ALL
SELECT kept.tenant_id,
       kept.workspace_id,
       expired.id
FROM kept
JOIN tenants AS t ON t.id = kept.tenant_id
JOIN plan_days AS p ON p.name = t.plan
CROSS JOIN LATERAL (
    SELECT s.id
    FROM sessions AS s
    WHERE s.tenant_id = kept.tenant_id
      AND s.workspace_id = kept.workspace_id
      AND s.agent_id = kept.agent_id
      AND s.created_at >= t.plan_since
      AND s.ended_at < ?::timestamptz - make_interval(days => p.days)
    ORDER BY s.ended_at
    LIMIT ?
) AS expired
WHERE kept.days = 0 OR kept.days > p.days
LIMIT ?`

// SweepRetention deletes the sessions of all tenants that have ended longer ago than their agents
// and workspaces keep them, as DeleteSessions does. A session that cannot be deleted does not keep
// others from it. Several nodes may run it at the same time.
func (s *Service) SweepRetention(ctx context.Context, now time.Time) error {
	var failures []error
	for {
		expired, n, err := s.expired(ctx, now)
		if err != nil {
			return err
		}
		deleted := 0
		for ref, ids := range expired {
			counts, err := s.DeleteSessions(ctx, ref, ids)
			deleted += counts.Sessions
			if err != nil {
				failures = append(failures, err)
			}
		}
		// The next reading brings those that could not be deleted again, and they may fill it.
		if n == 0 || deleted == 0 || ctx.Err() != nil {
			return errors.Join(failures...)
		}
	}
}

// expired reads sessions that are kept no longer, by their workspaces, and counts them.
func (s *Service) expired(ctx context.Context, now time.Time) (map[workspaces.Ref][]sessions.ID, int, error) {
	var rows []struct {
		TenantID    workspaces.TenantID `bun:"tenant_id"`
		WorkspaceID workspaces.ID       `bun:"workspace_id"`
		ID          sessions.ID         `bun:"id"`
	}
	query := postgres.RawForAllTenants("the sweep of sessions that are kept no longer", expiredSQL)
	var names []string
	var days []int
	for name, plan := range s.Workspaces.Plans() {
		if plan.TranscriptDays > 0 {
			names, days = append(names, name), append(days, plan.TranscriptDays)
		}
	}
	err := s.DB.NewRaw(query, pgdialect.Array(names), pgdialect.Array(days), now, expiredOfAgent, now, expiredOfAgent, expiredAtOnce).
		Scan(ctx, &rows)
	if err != nil {
		return nil, 0, fmt.Errorf("read sessions that are kept no longer: %w", err)
	}
	byWorkspace := map[workspaces.Ref][]sessions.ID{}
	for _, row := range rows {
		ref := workspaces.Ref{TenantID: row.TenantID, ID: row.WorkspaceID}
		byWorkspace[ref] = append(byWorkspace[ref], row.ID)
	}
	return byWorkspace, len(rows), nil
}
