package turns

import (
	"context"
	"errors"
	"sync"
	"time"

	"parlance.dev/parlance/sessions"
)

const leaseRenewal = 3 * time.Second

// Why a turn was stopped.
var (
	ErrEnding  = errors.New("the session is being ended")
	ErrStopped = errors.New("the answer was cancelled")
	// ErrInterrupted is ErrStopped for what the user said meanwhile.
	ErrInterrupted = errors.New("the answer was interrupted")
)

// Lease is the right to run a turn, while it is waited for too: the end of the session reaches it
// either way.
type Lease struct {
	session sessions.ID
	cancel  context.CancelCauseFunc
	stop    chan struct{}
	renewed sync.WaitGroup
	// losses are the turn's.
	losses int
	// followed says that somebody follows the turn by its row, and wants to hear of its end.
	followed bool
	// approvals are the turn's calls that wait for somebody's approval; nil: none can.
	approvals *Approvals
}

// hold registers a turn of this node; the context ends when the session does.
func (s *Service) hold(ctx context.Context, start Start, waiting *Approvals) (context.Context, *Lease) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &Lease{session: start.Session.ID, cancel: cancel, stop: make(chan struct{}), approvals: waiting}
	s.mu.Lock()
	s.running[start.Turn] = l
	s.mu.Unlock()
	return ctx, l
}

// release ends a hold and its renewal.
func (s *Service) release(turn sessions.TurnID, l *Lease) {
	s.tellFollowers(turn)
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

// Runs says that the turn runs on this node, or waits here for its lease.
func (s *Service) Runs(turn sessions.TurnID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[turn] != nil
}

// renew keeps the lease until it is released; it also hears of an end whose notification was lost.
func (s *Service) renew(ctx context.Context, start Start, l *Lease) {
	ctx = context.WithoutCancel(ctx) // a cancelled turn is still ours until it is recorded
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
