package live

import (
	"context"
	"encoding/json"
	"errors"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// handleNotice handles a notification. An empty payload says that some may have been missed.
func (s *Service) handleNotice(ctx context.Context, payload string) {
	if payload == "" {
		s.requests.WakeFollowers("")
		s.turns.WakeApprovals("")
		if err := s.refreshSockets(ctx, func(int) bool { return true }); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "sessions not checked", "error", err)
		}
		return
	}
	var n sessions.Notice
	if err := json.Unmarshal([]byte(payload), &n); err != nil {
		s.log.WarnContext(ctx, "notice not decoded", "error", err)
		return
	}
	switch n.Kind {
	case sessions.NoticeEnding:
		s.turns.StopTurns(n.Session, turns.ErrEnding)
	case sessions.NoticeStop:
		s.turns.StopTurn(n.Turn)
	case sessions.NoticeFollow:
		s.turns.MarkFollowed(n.Turn)
	case sessions.NoticeNews:
		s.requests.WakeFollowers(n.Turn)
	case sessions.NoticeDecided:
		s.turns.WakeApprovals(n.Session)
	case sessions.NoticeHandover:
		if e := s.engineOf(n.Session); e != nil {
			e.inbox.send(e.readHandover)
		}
	case sessions.NoticeTurn:
		s.loadRecordedTurn(ctx, n)
	case sessions.NoticeEnded:
		s.turns.StopTurns(n.Session, turns.ErrEnding)
		s.checkSession(ctx, n.Session)
	case sessions.NoticeItem:
		if n.From != s.node {
			s.checkSession(ctx, n.Session)
		}
	case sessions.NoticeResume:
		if n.From != s.node {
			s.loadTurnsToResume(ctx, n.Session)
		}
	case sessions.NoticeCancel:
		if n.From != s.node {
			s.turns.StopTurns(n.Session, turns.ErrStopped)
		}
	case sessions.NoticeJoined:
		if e := s.engineOf(n.Session); e != nil && n.From != s.node {
			e.inbox.send(func() { e.replaceSocket(n.Channel, n.Number) })
		}
	}
}

// loadRecordedTurn reads a turn that another node has recorded, for the sockets on this node.
func (s *Service) loadRecordedTurn(ctx context.Context, n sessions.Notice) {
	e := s.engineOf(n.Session)
	if e == nil || n.From == s.node {
		return
	}
	session := sessions.Session{TenantID: e.tenant, ID: n.Session}
	turn, err := sessions.FindTurn(ctx, s.db, session, n.Turn)
	if err == nil {
		turn, err = s.sessions.OpenTurn(ctx, session, turn)
	}
	if err != nil {
		s.log.WarnContext(ctx, "turn of another node not read", "session_id", n.Session, "turn_id", n.Turn, "error", err)
		return
	}
	e.inbox.send(func() {
		if e.watching != turn.ID { // otherwise remoteTurnEnded follows
			e.observeTurn(turn)
		}
	})
}

// loadTurnsToResume reads the turns of a session that wait for an answer.
func (s *Service) loadTurnsToResume(ctx context.Context, id sessions.ID) {
	e := s.engineOf(id)
	if e == nil {
		return
	}
	session, err := sessions.Find(ctx, s.db, e.tenant, id, "")
	if err != nil || session.Closed() {
		return
	}
	turns, err := sessions.UnansweredTurns(ctx, s.db, session)
	if err == nil {
		turns, err = s.sessions.OpenTurns(ctx, session, turns)
	}
	if err != nil {
		s.log.WarnContext(ctx, "turns to resume not read", "session_id", id, "error", err)
		return
	}
	e.inbox.send(func() { e.resumeTurns(turns) })
}

// checkSession reads a session, and has its engine close sockets that were replaced or whose
// session has ended.
func (s *Service) checkSession(ctx context.Context, id sessions.ID) {
	e := s.engineOf(id)
	if e == nil {
		return
	}
	session, err := sessions.Find(ctx, s.db, e.tenant, id, "")
	switch {
	case fault.IsReason(err, fault.ResourceNotFound): // erased
		session = sessions.Session{ID: id, Status: sessions.Completed, EndReason: "erased"}
		e.inbox.send(func() { e.closeSession(closedBy(session)) })
		return
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			s.log.WarnContext(ctx, "session not checked", "session_id", id, "error", err)
		}
		return
	case session.Closed():
		e.inbox.send(func() { e.closeSession(closedBy(session)) })
		return
	case !session.EndingAt.IsZero():
		s.turns.StopTurns(id, turns.ErrEnding)
	}
	e.inbox.send(func() {
		if !e.session.Handover.SameAs(session.Handover) {
			e.readHandover()
		}
	})
	if len(session.ItemEdits) > 0 {
		e.inbox.send(func() { e.mergeEdits(session.ItemEdits) })
	}
	var open []sessions.Connection
	if err := s.db.NewSelect().Model(&open).Where("c.tenant_id = ?", session.TenantID).Where("c.session_id = ?", id).Scan(ctx); err != nil {
		return // the next check reads them
	}
	for _, c := range open {
		if c.NodeID == s.node {
			continue
		}
		e.inbox.send(func() { e.replaceSocket(c.Channel, c.Number) })
	}
}
