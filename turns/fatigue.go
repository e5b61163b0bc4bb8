package turns

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/fatigue"
)

// watchFatigue announces what the user has used up with this turn, and says what the agent suggests
// then. It does not fail the turn: what could not be announced is in the next one.
func (r *Runner) watchFatigue(ctx context.Context) error {
	windows := r.Session.Config.Fatigue
	if len(windows) == 0 || r.offline || r.Turn.UserText == "" {
		return nil
	}
	watching, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	user := fatigue.User{Ref: r.Session.Ref(), AgentID: r.Session.AgentID, UserID: r.Session.UserID}
	fired, err := fatigue.Observe(watching, r.S.db, user, string(r.Session.ID), windows, r.Turn.StartedAt, r.S.sessions.Now())
	if err != nil && ctx.Err() == nil {
		r.S.log.WarnContext(ctx, "fatigue not looked at", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	}
	for _, one := range fired {
		if one.Action == agents.FatigueSuggest && !r.stop {
			return r.sayFixed(one.Message)
		}
	}
	return nil
}
