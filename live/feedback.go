package live

import (
	"context"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
)

// saveFeedback stores a client's feedback.
func (e *engine) saveFeedback(live *Live, c Feedback) {
	if c.Score != sessions.NoScore && c.Score != sessions.Like && c.Score != sessions.Dislike {
		live.push(Failed{CommandID: c.CommandID, Err: fault.InvalidField("score", "in", "A score is like or dislike, or none.")})
		return
	}
	ctx, cancel := context.WithTimeout(live.origin.Context(context.WithoutCancel(e.s.life)), sessions.WriteTimeout)
	defer cancel()
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) error {
		return e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			if err := sessions.SetFeedback(ctx, tx, *row, c.Feedback); err != nil {
				return err
			}
			return sessions.CountFeedback(ctx, tx, row)
		})
	})
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: postgres.Decide(err)})
	}
}
