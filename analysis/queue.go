package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

const (
	// queuedTime is how long a task counts as being on its way.
	queuedTime = 10 * time.Second
	// busyPause is how long an analysis is delayed when its tenant has its share of the workers.
	busyPause = 100 * time.Millisecond
)

// dueAnalysesSQL selects analyses that are due, tenants in turn, and marks them as queued.
const dueAnalysesSQL = `,
due AS (
    SELECT own.session_id,
           own.kind,
           own.rank,
           round_robin.place
    FROM round_robin
    CROSS JOIN LATERAL (
        SELECT w.session_id,
               w.kind,
               row_number() OVER (ORDER BY w.due_at, w.session_id, w.kind) AS rank
        FROM (
            SELECT q.session_id, q.kind, q.due_at
            FROM session_analyses AS q
            WHERE q.tenant_id = round_robin.tenant_id
              AND q.status = 'pending'
              AND q.due_at <= ?
              AND (q.queued_until IS NULL OR q.queued_until < ?)
            ORDER BY q.due_at
            LIMIT ?
        ) AS w
    ) AS own
    WHERE round_robin.tenant_id <> ALL (coalesce(?::text[], '{}'))
    ORDER BY own.rank, round_robin.place
    LIMIT ?
), picked AS (
    SELECT n.session_id,
           n.kind,
           due.rank,
           due.place
    FROM due
    JOIN session_analyses AS n ON n.session_id = due.session_id AND n.kind = due.kind
    -- Another worker may have been faster.
    WHERE n.status = 'pending'
      AND (n.queued_until IS NULL OR n.queued_until < ?)
    FOR UPDATE OF n SKIP LOCKED
), queued AS (
    UPDATE session_analyses AS n
    SET queued_until = ?
    FROM picked
    WHERE n.session_id = picked.session_id
      AND n.kind = picked.kind
    RETURNING n.*, picked.rank, picked.place
)
SELECT session_id, tenant_id, workspace_id, kind, traceparent, request_id
FROM queued
ORDER BY rank, place, session_id, kind`

// DueAnalyses returns up to ask.Room analyses that are due and have no task on its way, in the
// order of the tenants' turns, and marks them as queued for ten seconds. It reads all tenants,
// because the worker has none.
func (s *Service) DueAnalyses(ctx context.Context, now time.Time, ask fair.Ask) ([]Analysis, error) {
	var due []Analysis
	query := "WITH RECURSIVE " + fair.RoundRobinSQL("session_analyses", "w.status = 'pending'") + dueAnalysesSQL
	err := s.db.NewRaw(postgres.RawForAllTenants("tenants take turns with their analyses", query),
		ask.After, ask.After, ask.After, now, now, ask.Room, pgdialect.Array(ask.Except), ask.Room, now, now.Add(queuedTime)).Scan(ctx, &due)
	if err != nil {
		return nil, fmt.Errorf("listing due analyses: %w", err)
	}
	return due, nil
}

// RescheduleAnalysis delays an analysis, because its tenant has its share of the workers.
func (s *Service) RescheduleAnalysis(ctx context.Context, tenant workspaces.TenantID, id sessions.ID, kind Kind) error {
	_, err := s.db.NewUpdate().Model((*Analysis)(nil)).
		Set("due_at = greatest(n.due_at, ?)", s.sessions.Now().Add(busyPause)).Set("queued_until = NULL").
		Where("n.tenant_id = ?", tenant).Where("n.session_id = ?", id).Where("n.kind = ?", kind).Where("n.status = ?", Pending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("rescheduling an analysis: %w", err)
	}
	return nil
}

// claim takes a session's analysis for as long as a try may last. It returns false when the
// analysis is not due.
func (s *Service) claim(
	ctx context.Context, tenant workspaces.TenantID, id sessions.ID, kind Kind, now time.Time,
) (a Analysis, claimed bool, err error) {
	err = s.db.NewUpdate().Model(&a).
		Set("attempts = n.attempts + 1").Set("due_at = ?", now.Add(TryTimeout+tryGrace)).Set("queued_until = NULL").
		Where("n.tenant_id = ?", tenant).Where("n.session_id = ?", id).Where("n.kind = ?", kind).
		Where("n.status = ?", Pending).Where("n.due_at <= ?", now).
		Returning("*").Scan(ctx)
	if postgres.NoRows(err) {
		return Analysis{}, false, nil
	}
	if err != nil {
		return Analysis{}, false, fmt.Errorf("claiming an analysis: %w", err)
	}
	return a, true, nil
}

// release ends a try without a result, and counts what it has used. The next one may begin at due.
func (s *Service) release(ctx context.Context, a Analysis, due time.Time) error {
	a.DueAt = due
	now := s.sessions.Now()
	return s.sessions.Locked(ctx, a.TenantID, a.SessionID, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		_, err := tx.NewUpdate().Model(&a).Column("due_at", "error", "model", "input_tokens", "output_tokens").
			Where("n.tenant_id = ?", a.TenantID).Where("n.session_id = ?", a.SessionID).Where("n.kind = ?", a.Kind).
			Where("n.status = ?", Pending).Where("n.attempts = ?", a.Attempts).Exec(ctx)
		if err != nil {
			return fmt.Errorf("rescheduling an analysis: %w", err)
		}
		return s.meterTx(ctx, tx, *session, a, now)
	})
}
