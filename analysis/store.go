package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
)

// insertAnalyses stores the analyses that a closing session waits for.
func insertAnalyses(ctx context.Context, tx bun.Tx, session sessions.Session, kinds []Kind, now time.Time) error {
	origin := telemetry.OriginOf(ctx)
	all := make([]Analysis, len(kinds))
	for i, kind := range kinds {
		all[i] = Analysis{
			SessionID: session.ID, TenantID: session.TenantID, WorkspaceID: session.WorkspaceID, Kind: kind, Status: Pending,
			DueAt: now, DeadlineAt: now.Add(Deadline), Traceparent: origin.Traceparent, RequestID: origin.RequestID, CreatedAt: now,
		}
	}
	if _, err := tx.NewInsert().Model(&all).Exec(ctx); err != nil {
		return fmt.Errorf("storing analyses: %w", err)
	}
	_, err := events.Append(ctx, tx, events.Event{
		TenantID: string(session.TenantID), WorkspaceID: string(session.WorkspaceID),
		Type: events.AnalysisWanted, Subject: string(session.ID), CreatedAt: now,
	})
	return err
}

// selectAnalyses reads a session's analyses by kind, within the transaction that holds its lock.
func selectAnalyses(ctx context.Context, tx bun.Tx, session sessions.Session) (map[Kind]Analysis, error) {
	var rows []Analysis
	err := tx.NewSelect().Model(&rows).Where("n.tenant_id = ?", session.TenantID).Where("n.session_id = ?", session.ID).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading analyses: %w", err)
	}
	all := map[Kind]Analysis{}
	for _, row := range rows {
		all[row.Kind] = row
	}
	return all, nil
}

// updateAnalysis stores the outcome of an analysis.
func updateAnalysis(ctx context.Context, tx bun.Tx, a Analysis) error {
	_, err := tx.NewUpdate().Model(&a).Column("status", "result", "model", "input_tokens", "output_tokens", "error", "ended_at").
		Where("n.tenant_id = ?", a.TenantID).Where("n.session_id = ?", a.SessionID).Where("n.kind = ?", a.Kind).Exec(ctx)
	if err != nil {
		return fmt.Errorf("storing an analysis: %w", err)
	}
	return nil
}

// selectOverdue reads the pending analyses whose deadline is over.
func selectOverdue(ctx context.Context, db *postgres.DB, now time.Time) ([]Analysis, error) {
	var overdue []Analysis
	err := db.NewSelect().Model(&overdue).Comment(postgres.AllTenants("the sweep of analyses")).
		Where("n.status = ?", Pending).Where("n.deadline_at <= ?", now).OrderExpr("n.deadline_at").Limit(sessions.SweepBatch).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading overdue analyses: %w", err)
	}
	return overdue, nil
}
