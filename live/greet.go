package live

import (
	"context"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/sessions"
)

// createGreeting stores and sends the first_message of a session whose first socket held it back.
// It does nothing once the session has a turn.
func (e *engine) createGreeting(live *Live) {
	var greeting *sessions.Turn
	ctx, cancel := context.WithTimeout(live.origin.Context(context.WithoutCancel(e.s.life)), sessions.WriteTimeout)
	defer cancel()
	now := e.s.sessions.Now()
	err := e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if greeting = nil; row.Closed() || row.TurnCount > 0 {
			return nil
		}
		row.Config, row.Language = e.session.Config, e.session.Language
		if greeting = sessions.NewGreeting(row, now); greeting == nil {
			return nil
		}
		if err := sessions.InsertTurn(ctx, tx, *greeting); err != nil {
			return err
		}
		row.TurnCount++
		return sessions.Update(ctx, tx, *row, "turn_count")
	})
	switch {
	case err != nil:
		e.s.log.WarnContext(ctx, "greeting not stored", "session_id", e.id, "error", err)
	case greeting != nil:
		e.sendGreeting(live, *greeting)
		e.sendItemsToOthers(live, sessions.ItemsOf(*greeting))
	}
}
