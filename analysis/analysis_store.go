package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

const (
	// analysisHandedFor is how long a task is trusted to be on its way.
	analysisHandedFor = 10 * time.Second
	// analysisBusyPause is how long a session of a tenant that has its share is put off.
	analysisBusyPause = 100 * time.Millisecond
)

// insertAnalyses makes a session that is being closed wait for these.
func insertAnalyses(ctx context.Context, tx bun.Tx, session sessions.Session, kinds []AnalysisKind, now time.Time) error {
	origin := telemetry.OriginOf(ctx)
	all := make([]Analysis, len(kinds))
	for i, kind := range kinds {
		all[i] = Analysis{
			SessionID: session.ID, TenantID: session.TenantID, WorkspaceID: session.WorkspaceID, Kind: kind, Status: AnalysisPending,
			DueAt: now, DeadlineAt: now.Add(AnalysisDeadline), Traceparent: origin.Traceparent, RequestID: origin.RequestID, CreatedAt: now,
		}
	}
	if _, err := tx.NewInsert().Model(&all).Exec(ctx); err != nil {
		return fmt.Errorf("storing what is to be analysed: %w", err)
	}
	_, err := events.Append(ctx, tx, events.Event{
		TenantID: string(session.TenantID), WorkspaceID: string(session.WorkspaceID),
		Type: events.AnalysisWanted, Subject: string(session.ID), CreatedAt: now,
	})
	return err
}

// Analyses are those of the sessions that have one, by session; of one tenant.
func (s *Service) Analyses(ctx context.Context, ended ...sessions.Session) (map[sessions.ID]Analysis, error) {
	found := map[sessions.ID]Analysis{}
	var ids []sessions.ID
	var tenant workspaces.TenantID
	for _, session := range ended {
		found[session.ID] = Analysis{SessionID: session.ID, Kind: Judging, Status: AnalysisNone}
		if session.Closed() && session.Config.Analysis.Enabled {
			ids, tenant = append(ids, session.ID), session.TenantID
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	var rows []Analysis
	err := s.db.NewSelect().Model(&rows).Where("n.tenant_id = ?", tenant).Where("n.session_id IN (?)", bun.List(ids)).
		Where("n.kind = ?", Judging).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading analyses: %w", err)
	}
	for _, row := range rows {
		found[row.SessionID] = row
	}
	return found, nil
}

// claimAnalysis takes a session's analysis on for as long as a try may last; false when it is not due.
func (s *Service) claimAnalysis(ctx context.Context, tenant workspaces.TenantID, id sessions.ID, kind AnalysisKind, now time.Time) (a Analysis, claimed bool, err error) {
	err = s.db.NewUpdate().Model(&a).
		Set("attempts = n.attempts + 1").Set("due_at = ?", now.Add(AnalysisTime+analysisGrace)).Set("queued_until = NULL").
		Where("n.tenant_id = ?", tenant).Where("n.session_id = ?", id).Where("n.kind = ?", kind).
		Where("n.status = ?", AnalysisPending).Where("n.due_at <= ?", now).
		Returning("*").Scan(ctx)
	if postgres.NoRows(err) {
		return Analysis{}, false, nil
	}
	if err != nil {
		return Analysis{}, false, fmt.Errorf("claiming an analysis: %w", err)
	}
	return a, true, nil
}

// releaseAnalysis gives a try back: another one may begin at due.
func (s *Service) releaseAnalysis(ctx context.Context, a Analysis, due time.Time) error {
	a.DueAt = due
	_, err := s.db.NewUpdate().Model(&a).Column("due_at", "error", "model", "input_tokens", "output_tokens").
		Where("n.tenant_id = ?", a.TenantID).Where("n.session_id = ?", a.SessionID).Where("n.kind = ?", a.Kind).
		Where("n.status = ?", AnalysisPending).Where("n.attempts = ?", a.Attempts).Exec(ctx)
	if err != nil {
		return fmt.Errorf("putting off an analysis: %w", err)
	}
	return nil
}

// dueAnalysesSQL picks sessions: tenants take turns.
const dueAnalysesSQL = `,
ripe AS (
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
           ripe.rank,
           ripe.place
    FROM ripe
    JOIN session_analyses AS n ON n.session_id = ripe.session_id AND n.kind = ripe.kind
    -- Another worker may have been faster.
    WHERE n.status = 'pending'
      AND (n.queued_until IS NULL OR n.queued_until < ?)
    FOR UPDATE OF n SKIP LOCKED
), handed AS (
    UPDATE session_analyses AS n
    SET queued_until = ?
    FROM picked
    WHERE n.session_id = picked.session_id
      AND n.kind = picked.kind
    RETURNING n.*, picked.rank, picked.place
)
SELECT session_id, tenant_id, workspace_id, kind, traceparent, request_id
FROM handed
ORDER BY rank, place, session_id, kind`

// DueAnalyses returns up to ask.Room analyses that Analyse or Learn would claim and that no task is known to be
// on its way for, and counts them as on their way for ten seconds, in the order of the tenants' turns.
// It looks at all tenants: the worker has none.
func (s *Service) DueAnalyses(ctx context.Context, now time.Time, ask fair.Ask) ([]Analysis, error) {
	var due []Analysis
	query := "WITH RECURSIVE " + fair.RoundRobinSQL("session_analyses", "w.status = 'pending'") + dueAnalysesSQL
	err := s.db.NewRaw(postgres.RawForAllTenants("tenants take turns with their analyses", query),
		ask.After, ask.After, ask.After, now, now, ask.Room, pgdialect.Array(ask.Except), ask.Room, now, now.Add(analysisHandedFor)).Scan(ctx, &due)
	if err != nil {
		return nil, fmt.Errorf("listing due analyses: %w", err)
	}
	return due, nil
}

// PutOffAnalysis makes a session wait for a moment, because its tenant has its share of the workers.
func (s *Service) PutOffAnalysis(ctx context.Context, tenant workspaces.TenantID, id sessions.ID, kind AnalysisKind) error {
	_, err := s.db.NewUpdate().Model((*Analysis)(nil)).
		Set("due_at = greatest(n.due_at, ?)", s.sessions.Now().Add(analysisBusyPause)).Set("queued_until = NULL").
		Where("n.tenant_id = ?", tenant).Where("n.session_id = ?", id).Where("n.kind = ?", kind).Where("n.status = ?", AnalysisPending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("putting off an analysis: %w", err)
	}
	return nil
}

// selectOverdueAnalyses finds the analyses whose time is over.
func selectOverdueAnalyses(ctx context.Context, db *postgres.DB, now time.Time) ([]Analysis, error) {
	var overdue []Analysis
	err := db.NewSelect().Model(&overdue).Comment(postgres.AllTenants("the sweep of analyses")).
		Where("n.status = ?", AnalysisPending).Where("n.deadline_at <= ?", now).OrderExpr("n.deadline_at").Limit(sessions.SweepBatch).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading overdue analyses: %w", err)
	}
	return overdue, nil
}

// selectAnalyses reads a session's analyses, of which each kind is one or none, within the transaction that holds it.
func selectAnalyses(ctx context.Context, tx bun.Tx, session sessions.Session) (map[AnalysisKind]Analysis, error) {
	var rows []Analysis
	err := tx.NewSelect().Model(&rows).Where("n.tenant_id = ?", session.TenantID).Where("n.session_id = ?", session.ID).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading analyses: %w", err)
	}
	all := map[AnalysisKind]Analysis{}
	for _, row := range rows {
		all[row.Kind] = row
	}
	return all, nil
}

func updateAnalysis(ctx context.Context, tx bun.Tx, a Analysis) error {
	_, err := tx.NewUpdate().Model(&a).Column("status", "result", "model", "input_tokens", "output_tokens", "error", "ended_at").
		Where("n.tenant_id = ?", a.TenantID).Where("n.session_id = ?", a.SessionID).Where("n.kind = ?", a.Kind).Exec(ctx)
	if err != nil {
		return fmt.Errorf("storing an analysis: %w", err)
	}
	return nil
}
