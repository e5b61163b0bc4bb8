package turns

import (
	"sync"
	"time"

	"parlance.dev/parlance/turns/approvals"
)

// A call whose entry says NeedsApproval is made only when somebody allows it:
//
//	call_approvals row, ApprovalRequested ──► socket, stream ──► Approve, Decide on any node
//	      └── the row, and a notification ──► the runner        (Deps.ApprovalTimeout, 60 s)
//
// The turn waits meanwhile; other calls of the round do not. The row is the truth: the first
// decision in it counts. While Postgres is away a socket's request has no row, and only a decision
// on its own node reaches it.

const (
	// ApprovalTimeout is how long a person gets to read what is asked for and to decide.
	ApprovalTimeout = 60 * time.Second
	// approvalPoll is how often the row is read although no notification has come.
	approvalPoll = time.Second
	// RequestPrefix makes a call's id the id of its request's item.
	RequestPrefix = "mcpr_"
)

// Approvals are the calls of an answer that wait for a decision. Safe for concurrent use.
type Approvals struct {
	mu      sync.Mutex
	waiting map[string]*approvalRequest // by the id of the request
}

// approvalRequest waits for the decision on one call.
type approvalRequest struct {
	// stored says that it has a row.
	stored bool
	// decision receives a decision that has no row. reread receives when the row is to be read again.
	decision chan approvals.Decision
	reread   chan struct{}
}

// NewApprovals makes an Approvals that is empty.
func NewApprovals() *Approvals { return &Approvals{waiting: map[string]*approvalRequest{}} }

// open adds a request.
func (a *Approvals) open(request string, stored bool) *approvalRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	// At most one decision comes.
	one := &approvalRequest{stored: stored, decision: make(chan approvals.Decision, 1), reread: make(chan struct{}, 1)}
	a.waiting[request] = one
	return one
}

// Unstored reports whether the request waits and has no row.
func (a *Approvals) Unstored(request string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.waiting[request]
	return one != nil && !one.stored
}

// Answer passes a decision on; false when the request does not wait.
func (a *Approvals) Answer(request string, d approvals.Decision) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, ok := a.waiting[request]
	if ok {
		delete(a.waiting, request)
		one.decision <- d
	}
	return ok
}

// reread has the waiting requests read their rows.
func (a *Approvals) reread() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.waiting {
		select {
		case one.reread <- struct{}{}:
		default: // it is about to read
		}
	}
}

// close removes a request that was not answered.
func (a *Approvals) close(request string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, request)
}

// RequestOf names the request for a call's approval by the call's id, so that a decision cannot
// reach another call.
func RequestOf(callID string) string { return RequestPrefix + callID }
