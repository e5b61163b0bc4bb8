package requests

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

const (
	// maxQueuedTurns is how many turns of a session may wait on a node for the one that runs, as
	// many as a socket's answers may.
	maxQueuedTurns = turns.MaxWaitingResponds
	// DefaultTenantTurns bounds the turns of one tenant that run or wait on a node.
	DefaultTenantTurns = 256
	// queuePoll is how often the next turn of a queue looks whether the one before still runs.
	queuePoll = time.Second
	// queueRetryAfter is what a refused caller is told to wait.
	queueRetryAfter = 2 * time.Second
)

// queues hold the turns that run or wait on this node, one queue a session, so that only one of
// each session asks the database whether it may begin. Safe for concurrent use.
type queues struct {
	// tenantTurns bounds the turns of one tenant.
	tenantTurns int

	mu       sync.Mutex
	sessions map[sessions.ID]*queue
	tenants  map[workspaces.TenantID]int
}

// queue is that of a session.
type queue struct {
	// slot holds the turn that is next or runs.
	slot chan struct{}
	// turns run or wait.
	turns int
}

func newQueues(tenantTurns int) *queues {
	return &queues{tenantTurns: tenantTurns, sessions: map[sessions.ID]*queue{}, tenants: map[workspaces.TenantID]int{}}
}

// enter waits for the turns of the session that came before on this node; leave lets the next one
// go. idle reports whether no turn of the session runs on any node: then nobody is waited for.
// Errors: RateLimited rate-limited, Unavailable unavailable (waited too long), ctx's.
func (q *queues) enter(ctx context.Context, session sessions.Session, idle func(context.Context) bool) (leave func(), err error) {
	queue, err := q.add(session)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, turns.BusyWait)
	defer cancel()
	ticker := time.NewTicker(queuePoll)
	defer ticker.Stop()
	for {
		select {
		case queue.slot <- struct{}{}:
			return func() { <-queue.slot; q.remove(session, queue) }, nil
		case <-ticker.C:
			if idle(waiting) { // the turn before was lost with its node
				return func() { q.remove(session, queue) }, nil
			}
		case <-waiting.Done():
			q.remove(session, queue)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, turns.ErrStillRunning()
		}
	}
}

// add counts a turn. Errors: RateLimited rate-limited.
func (q *queues) add(session sessions.Session) (*queue, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	found := q.sessions[session.ID]
	switch {
	case found != nil && found.turns > maxQueuedTurns:
		return nil, tooManyTurns("%d turns of this session wait already. Wait for their answers before you send more.", maxQueuedTurns)
	case q.tenants[session.TenantID] >= q.tenantTurns:
		return nil, tooManyTurns("%d turns of your tenant run or wait already. Wait for their answers before you send more.", q.tenantTurns)
	case found == nil:
		found = &queue{slot: make(chan struct{}, 1)}
		q.sessions[session.ID] = found
	}
	found.turns++
	q.tenants[session.TenantID]++
	return found, nil
}

func (q *queues) remove(session sessions.Session, of *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if of.turns--; of.turns == 0 {
		delete(q.sessions, session.ID)
	}
	if q.tenants[session.TenantID]--; q.tenants[session.TenantID] == 0 {
		delete(q.tenants, session.TenantID)
	}
}

// length is how many turns of the session run or wait on this node.
func (q *queues) length(id sessions.ID) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if found := q.sessions[id]; found != nil {
		return found.turns
	}
	return 0
}

func tooManyTurns(format string, most int) error {
	refusal := fault.New(fault.RateLimitedReason, format, most)
	refusal.RetryAfter = queueRetryAfter
	return refusal
}
