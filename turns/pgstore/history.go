package pgstore

import (
	"context"
	"fmt"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// History implements turns.Store.
func (s *Store) History(ctx context.Context, session sessions.Session, p turns.HistoryParams) ([]sessions.Turn, error) {
	var read []sessions.Turn
	err := s.db.NewSelect().Model(&read).Column("id", "index", "status", "messages").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).
		Where("t.index < ?", p.Below).Where("t.index >= ?", session.SummarizedTurns).
		OrderExpr("t.index DESC").Limit(int64(p.Limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading earlier turns: %w", err)
	}
	return read, nil
}

// historyStep reads the newest turns that no summary tells of. The messages of unfinished ones are
// not read.
func historyStep(session sessions.Session, into *turns.HistoryPage) postgres.Step {
	return postgres.Step{
		SQL: `
			SELECT t.id, t.index, t.status, CASE WHEN t.status = 'in_progress' THEN NULL ELSE t.messages END
			FROM turns AS t
			JOIN sessions AS s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
			WHERE t.tenant_id = $1 AND t.session_id = $2 AND t.index >= s.summarized_turns
			ORDER BY t.index DESC
			LIMIT $3`,
		Args: []any{string(session.TenantID), string(session.ID), turns.HistoryPageTurns},
		Row: func(scan func(into ...any) error) error {
			var turn sessions.Turn
			var messages []byte
			if err := scan((*string)(&turn.ID), &turn.Index, (*string)(&turn.Status), &messages); err != nil {
				return err
			}
			err := decodeJSON(column{messages, &turn.Messages})
			into.Turns = append(into.Turns, turn)
			into.More = len(into.Turns) == turns.HistoryPageTurns
			return err
		},
	}
}

// summaryStep reads what the session's first turns are told as.
func summaryStep(session sessions.Session, into *turns.Summary) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT m.text, m.turns FROM session_summaries AS m WHERE m.tenant_id = $1 AND m.session_id = $2",
		Args: []any{string(session.TenantID), string(session.ID)},
		Row:  func(scan func(into ...any) error) error { return scan(&into.Text, &into.Turns) },
	}
}
