package turns

import (
	"context"
	"time"

	"parlance.dev/parlance/sessions"
)

// hold registers a turn on this node. The context ends when the session does.
func (s *Service) hold(ctx context.Context, start Start, waiting *Approvals) (context.Context, *Lease) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &Lease{session: start.Session.ID, cancel: cancel, stop: make(chan struct{}), approvals: waiting}
	s.mu.Lock()
	s.running[start.Turn] = l
	s.mu.Unlock()
	return ctx, l
}

// release unregisters a turn and stops renewing its lease.
func (s *Service) release(turn sessions.TurnID, l *Lease) {
	s.notifyFollowers(turn)
	s.mu.Lock()
	delete(s.running, turn)
	s.mu.Unlock()
	close(l.stop)
	l.renewed.Wait()
	l.cancel(nil)
}

// StopTurns cancels the turns of a session that run or wait on this node.
func (s *Service) StopTurns(session sessions.ID, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.running {
		if l.session == session {
			l.cancel(cause)
		}
	}
}

// StopTurn cancels a turn if it runs on this node.
func (s *Service) StopTurn(turn sessions.TurnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.running[turn]; l != nil {
		l.cancel(ErrStopped)
	}
}

// Runs reports whether the turn runs on this node or waits here for its lease.
func (s *Service) Runs(turn sessions.TurnID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[turn] != nil
}

// renew renews the lease until it is released. It also notices an end of the session whose
// notification was lost.
func (s *Service) renew(ctx context.Context, start Start, l *Lease) {
	ctx = context.WithoutCancel(ctx) // the turn keeps its lease until it is recorded, although it was cancelled
	ticker := time.NewTicker(leaseRenewal)
	defer ticker.Stop()
	lease := LeaseParams{Session: start.Session, Turn: start.Turn, Response: start.Response, Losses: l.losses}
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		renewed, err := s.store.Renew(ctx, lease)
		mine := renewed.Mine
		if err == nil && !mine {
			mine, err = s.store.Reclaim(ctx, lease)
		}
		switch {
		case err != nil:
			s.log.WarnContext(ctx, "turn lease not renewed", "session_id", start.Session.ID, "turn_id", start.Turn, "error", err)
		case !mine:
			l.cancel(sessions.ErrLeaseLost)
			return
		case renewed.Ending:
			l.cancel(ErrEnding)
		}
	}
}

// MarkFollowed notes that the turn is followed by its row, if it runs here.
func (s *Service) MarkFollowed(turn sessions.TurnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.running[turn]; l != nil {
		l.followed = true
	}
}

// notifyFollowers tells those who follow a turn of this node that its row has changed.
func (s *Service) notifyFollowers(turn sessions.TurnID) {
	s.mu.Lock()
	l := s.running[turn]
	wanted := l != nil && l.followed
	s.mu.Unlock()
	if !wanted {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), sessions.WriteTimeout)
	defer cancel()
	if err := sessions.Notify(ctx, s.db, sessions.Notice{Kind: sessions.NoticeNews, Session: l.session, Turn: turn}); err != nil {
		s.log.WarnContext(
			ctx, "followers of a turn not told", "session_id", l.session, "turn_id", turn, "error", err,
		) // followers also poll the row
	}
}

// WakeApprovals has the answers of a session on this node read their approvals again; those of all
// sessions when it is empty.
func (s *Service) WakeApprovals(session sessions.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.running {
		if l.approvals != nil && (session == "" || l.session == session) {
			l.approvals.reread()
		}
	}
}
