package sessions

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// Feedback is the user's score of an answer. It is stored with the turn; the last score counts.
type Feedback struct {
	// TurnIndex is the turn's place in the session, from 0.
	TurnIndex int
	Score     Score
}

// SetFeedback stores a score. Errors: Invalid invalid-request for a turn without an answer.
func SetFeedback(ctx context.Context, db bun.IDB, session Session, c Feedback) error {
	changed, err := postgres.Changed(db.NewUpdate().Model((*Turn)(nil)).Set("feedback = ?", c.Score).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.index = ?", c.TurnIndex).
		Where("t.agent_text <> ''").Exec(ctx))
	if err != nil {
		return fmt.Errorf("storing feedback: %w", err)
	}
	if !changed {
		return fault.InvalidField("event_id", "unknown",
			"There is no answer with this event_id. Send the event_id of an agent_response.")
	}
	return nil
}

// CountFeedback counts the scores of a session whose row is locked, and stores the counts.
func CountFeedback(ctx context.Context, db bun.IDB, session *Session) error {
	err := db.NewSelect().Model((*Turn)(nil)).
		ColumnExpr("count(*) FILTER (WHERE t.feedback = ?) AS likes", Like).
		ColumnExpr("count(*) FILTER (WHERE t.feedback = ?) AS dislikes", Dislike).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).
		Scan(ctx, &session.Likes.Likes, &session.Likes.Dislikes)
	if err != nil {
		return fmt.Errorf("counting feedback: %w", err)
	}
	return Update(ctx, db, *session, "likes", "dislikes")
}
