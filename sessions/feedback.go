package sessions

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
)

// Score is what the user thinks of an answer.
type Score string

// The scores; NoScore takes one back.
const (
	NoScore Score = ""
	Like    Score = "like"
	Dislike Score = "dislike"
)

// Feedback is what the user thinks of an answer; the last one counts. It is kept with the turn.
type Feedback struct {
	// TurnIndex is the turn's place in the session, from 0.
	TurnIndex int
	Score     Score
}

// Likes counts the scores of a session.
type Likes struct {
	Likes    int `bun:"likes"`
	Dislikes int `bun:"dislikes"`
}

// Overall is like or dislike, whichever there are more of; empty when there are as many, or none.
func (l Likes) Overall() Score {
	switch {
	case l.Likes > l.Dislikes:
		return Like
	case l.Dislikes > l.Likes:
		return Dislike
	}
	return NoScore
}

// setFeedback stores a score. Errors: Invalid invalid-request for a turn that has no answer.
func SetFeedback(ctx context.Context, db bun.IDB, session Session, c Feedback) error {
	result, err := db.NewUpdate().Model((*Turn)(nil)).Set("feedback = ?", c.Score).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.index = ?", c.TurnIndex).
		Where("t.agent_text <> ''").Exec(ctx)
	if err != nil {
		return fmt.Errorf("storing feedback: %w", err)
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("counting turns: %w", err)
	}
	if rows == 0 {
		return fault.InvalidField("event_id", "unknown", "There is no answer that this feedback could be on. Send the event_id of an agent_response.")
	}
	return nil
}

// countFeedback counts the scores of a session whose row is locked.
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
