package turns

import (
	"context"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

const (
	// maxQueuedTurns is how many turns of a session may wait on a node for the one that runs, as
	// many as a socket's answers may (maxWaitingResponds).
	maxQueuedTurns = MaxWaitingResponds
	// DefaultTenantTurns bounds the turns without a socket that run or wait for one tenant on a
	// node.
	DefaultTenantTurns = 256
	// queueLook is how often one who stands in line looks whether the turn before it still runs.
	queueLook = time.Second
	// queueAgain is what a caller is told to wait who was refused.
	queueAgain = 2 * time.Second
)

// TurnQueues are the turns without sockets that run or wait on this node. They stand in line here,
// so that one a session asks the database whether it may begin.
type TurnQueues struct {
	sessions map[sessions.ID]*turnQueue
	tenants  map[workspaces.TenantID]int
}

type turnQueue struct {
	slot  chan struct{} // holds the turn that is next or runs
	turns int
}

func NewTurnQueues() TurnQueues {
	return TurnQueues{sessions: map[sessions.ID]*turnQueue{}, tenants: map[workspaces.TenantID]int{}}
}

// queueTurn waits for the turns of the session that came before on this node; leave lets the next
// one go. Errors: RateLimited rate-limited, Unavailable unavailable (waited too long), ctx's.
func (s *Service) queueTurn(ctx context.Context, session sessions.Session) (leave func(), err error) {
	s.mu.Lock()
	q := s.queues.sessions[session.ID]
	switch {
	case q != nil && q.turns > maxQueuedTurns:
		s.mu.Unlock()
		return nil, tooManyTurns("%d turns of this session wait already. Wait for their answers before you send more.", maxQueuedTurns)
	case s.queues.tenants[session.TenantID] >= s.tenantTurns:
		s.mu.Unlock()
		return nil, tooManyTurns("%d turns of your tenant run or wait already. Wait for their answers before you send more.", s.tenantTurns)
	case q == nil:
		q = &turnQueue{slot: make(chan struct{}, 1)}
		s.queues.sessions[session.ID] = q
	}
	q.turns++
	s.queues.tenants[session.TenantID]++
	s.mu.Unlock()
	waiting, cancel := context.WithTimeout(ctx, busyWait)
	defer cancel()
	ticker := time.NewTicker(queueLook)
	defer ticker.Stop()
	for {
		select {
		case q.slot <- struct{}{}:
			return func() { <-q.slot; s.unqueueTurn(session, q) }, nil
		case <-ticker.C:
			if s.idle(waiting, session) { // the turn before us was taken for lost: nobody waits for it
				return func() { s.unqueueTurn(session, q) }, nil
			}
			continue
		case <-waiting.Done():
		}
		s.unqueueTurn(session, q)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errStillRunning()
	}
}

// idle says that no turn of the session runs anywhere, or that it is over.
func (s *Service) idle(ctx context.Context, session sessions.Session) bool {
	now, err := sessions.Find(ctx, s.db, session.TenantID, session.ID, "")
	return err == nil && (now.Closed() || now.RunningTurnID == "" || !now.RunningUntil.After(s.sessions.Now()))
}

func (s *Service) unqueueTurn(session sessions.Session, q *turnQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.turns--; q.turns == 0 {
		delete(s.queues.sessions, session.ID)
	}
	if s.queues.tenants[session.TenantID]--; s.queues.tenants[session.TenantID] == 0 {
		delete(s.queues.tenants, session.TenantID)
	}
}

func tooManyTurns(format string, most int) error {
	refusal := fault.New(fault.RateLimitedReason, format, most)
	refusal.RetryAfter = queueAgain
	return refusal
}

func errStillRunning() error {
	return fault.New(fault.ServiceUnavailable, "Another turn of the session is still running. Send it again when that is done.")
}
