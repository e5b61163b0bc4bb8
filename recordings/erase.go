package recordings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Bounds of a sweep: how many files are deleted between two looks, and how many sessions of an
// agent, and of all, one look finds.
const (
	filesAtOnce    = 200
	expiredOfAgent = 50
	expiredAtOnce  = 500
)

// Erase deletes the recordings of sessions of a workspace's tenant, and returns how many there
// were. Recordings that go on stop. Their sessions say erased afterwards. A file that a server
// stores in the same moment is deleted by that server, or by Sweep, as are those that the bucket
// does not delete now. Erasing again is no error.
func (s *Service) Erase(ctx context.Context, ref workspaces.Ref, ids []sessions.ID) (int, error) {
	now := s.now()
	var had []sessions.ID
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		had, err = eraseParts(ctx, tx, ref.TenantID, ids, now)
		return err
	})
	if err != nil {
		return 0, err
	}
	var after storedSegment
	for {
		segments, err := segmentsOf(ctx, s.db, ref.TenantID, ids, after, filesAtOnce)
		if err != nil || len(segments) == 0 {
			slices.Sort(had)
			return len(slices.Compact(had)), err
		}
		for _, g := range segments {
			if err := s.deleteFile(ctx, g); err != nil {
				return 0, err
			}
		}
		after = segments[len(segments)-1]
	}
}

// deleteFile deletes the file of a segment and then its row.
func (s *Service) deleteFile(ctx context.Context, g storedSegment) error {
	if g.Key != "" {
		if err := s.bucket.Delete(ctx, g.Key); err != nil {
			return fmt.Errorf("delete a segment of a recording: %w", err)
		}
	}
	return deleteSegment(ctx, s.db, g, s.now())
}

// Sweep deletes recordings that are kept no longer, and files that nothing needs: those of deleted
// workspaces, and of servers that died while they stored them. Several processes may run it at the
// same time.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	return errors.Join(s.sweepExpired(ctx, now), s.sweepFiles(ctx, now))
}

func (s *Service) sweepFiles(ctx context.Context, now time.Time) error {
	for {
		due, err := dueSegments(ctx, s.db, now, filesAtOnce)
		if err != nil || len(due) == 0 {
			return err
		}
		var failures []error // one file's error must not keep the others
		for _, g := range due {
			failures = append(failures, s.deleteFile(ctx, g))
		}
		if err := errors.Join(failures...); err != nil {
			return err
		}
	}
}

// expiredSQL reads sessions whose recordings are kept no longer. What the agent says counts, and
// where it says nothing, or is deleted, what the workspace says. A tenant's plan bounds it for
// sessions that were made since the tenant has the plan. Parameters: the names of plans and their
// days, twice the time and the bound of an agent, the bound of all.
const expiredSQL = `
WITH plan_days AS (
    SELECT name, days FROM unnest(?::text[], ?::integer[]) AS each (name, days)
),
kept AS (
    SELECT a.tenant_id,
           a.workspace_id,
           a.id AS agent_id,
           coalesce(nullif((a.config #>> '{privacy,retention,audio_days}')::integer, 0), w.audio_days) AS days
    FROM agents AS a
    JOIN workspaces AS w ON w.tenant_id = a.tenant_id AND w.id = a.workspace_id
    UNION ALL
    SELECT w.tenant_id,
           w.id,
           d.id, -- a deleted agent; those of other workspaces have no recordings in this one
           w.audio_days
    FROM workspaces AS w
    JOIN tombstones AS d ON d.tenant_id = w.tenant_id AND d.id LIKE 'agt\_%'
),
bounded AS (
    SELECT kept.tenant_id,
           kept.workspace_id,
           kept.agent_id,
           kept.days,
           '-infinity'::timestamptz AS since
    FROM kept
    WHERE kept.days > 0
    UNION ALL
    SELECT kept.tenant_id,
           kept.workspace_id,
           kept.agent_id,
           p.days,
           t.plan_since
    FROM kept
    JOIN tenants AS t ON t.id = kept.tenant_id
    JOIN plan_days AS p ON p.name = t.plan
    WHERE kept.days = 0 OR kept.days > p.days
)
SELECT bounded.tenant_id,
       bounded.workspace_id,
       expired.session_id AS id
FROM bounded
CROSS JOIN LATERAL (
    SELECT r.session_id
    FROM recording_parts AS r
    JOIN sessions AS s ON s.tenant_id = r.tenant_id AND s.id = r.session_id
    WHERE r.tenant_id = bounded.tenant_id
      AND r.workspace_id = bounded.workspace_id
      AND r.agent_id = bounded.agent_id
      AND r.erased_at IS NULL
      AND r.started_at < ?::timestamptz - make_interval(days => bounded.days) -- before the session's end
      AND s.ended_at < ?::timestamptz - make_interval(days => bounded.days)
      AND s.created_at >= bounded.since
    ORDER BY r.started_at
    LIMIT ?
) AS expired
LIMIT ?`

// sweepExpired deletes recordings that are kept no longer.
func (s *Service) sweepExpired(ctx context.Context, now time.Time) error {
	var names []string
	var days []int
	for name, plan := range s.workspaces.Plans() {
		if plan.AudioDays > 0 {
			names, days = append(names, name), append(days, plan.AudioDays)
		}
	}
	for {
		var rows []struct {
			TenantID    workspaces.TenantID `bun:"tenant_id"`
			WorkspaceID workspaces.ID       `bun:"workspace_id"`
			ID          sessions.ID         `bun:"id"`
		}
		query := postgres.RawForAllTenants("the sweep of recordings that are kept no longer", expiredSQL)
		err := s.db.NewRaw(query, pgdialect.Array(names), pgdialect.Array(days), now, now, expiredOfAgent, expiredAtOnce).Scan(ctx, &rows)
		if err != nil {
			return fmt.Errorf("read recordings that are kept no longer: %w", err)
		}
		if len(rows) == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
		byWorkspace := map[workspaces.Ref][]sessions.ID{}
		for _, row := range rows {
			ref := workspaces.Ref{TenantID: row.TenantID, ID: row.WorkspaceID}
			byWorkspace[ref] = append(byWorkspace[ref], row.ID)
		}
		var failures []error // one workspace's error must not keep the others
		for ref, ids := range byWorkspace {
			_, err := s.Erase(ctx, ref, ids)
			failures = append(failures, err)
		}
		if err := errors.Join(failures...); err != nil {
			return err
		}
	}
}
