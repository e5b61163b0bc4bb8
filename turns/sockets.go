package turns

import (
	"context"
	"encoding/json"

	"parlance.dev/parlance/sessions"
)

// tellEngine shows the session's sockets on this node a turn that was taken without them.
func (s *Service) tellEngine(turn sessions.Turn) {
	if turn.SessionID != "" {
		s.onRecorded(turn)
	}
}

// tellNodes has other nodes show their sockets of the session a turn that was recorded here. A
// session with a text socket alone has none elsewhere while that asks for answers here: a second
// one would have replaced it.
func (r *Runner) tellNodes(ctx context.Context) {
	if r.Start.Response != "" && r.Session.Modality == sessions.Text {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	payload, err := json.Marshal(sessions.Notice{Kind: sessions.NoticeTurn, Session: r.Session.ID, Turn: r.Turn.ID, From: r.S.node})
	if err == nil {
		_, err = r.S.db.NewRaw("SELECT pg_notify(?, ?) FROM session_connections AS c WHERE c.tenant_id = ? AND c.session_id = ? AND c.node_id <> ? LIMIT 1",
			sessions.Channel, string(payload), r.Session.TenantID, r.Session.ID, r.S.node).Exec(ctx)
	}
	if err != nil { // the transcript has it
		r.S.log.WarnContext(ctx, "sockets elsewhere not told of a turn", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	}
}
