package turns

import (
	"sync"
	"time"

	"parlance.dev/parlance/sessions"
)

// A call whose entry says NeedsApproval is made only when somebody allows it:
//
//	call_approvals row, ApprovalRequested ──► socket, stream ──► Approve, Service.Decide on any node
//	      └── the row, and a notification ──► the runner        (Deps.ApprovalTimeout, 60 s)
//
// The turn waits meanwhile; other calls of the round do not. The row is the truth: the first word
// in it counts. A socket's answer goes on without the row while Postgres is away: then its own node
// has to hear the word.

const (
	// ApprovalTimeout is how long a person gets to read what is asked for and to decide.
	ApprovalTimeout = 60 * time.Second
	// approvalPoll is how often the row is looked at although nobody says that it has changed.
	approvalPoll = time.Second
	// RequestPrefix makes a call's id the id of its request's item.
	RequestPrefix = "mcpr_"
	// bySocket and byToken are who decides without a key.
	BySocket = "socket"
	byToken  = "session_token"
)

// Decision is somebody's word on a call.
type Decision struct {
	Approved bool
	Reason   string
	// By is who said it: key_…, bySocket or byToken.
	By string
}

// status is the word as it is stored.
func (d Decision) status() sessions.ApprovalStatus {
	if d.Approved {
		return sessions.ApprovalApproved
	}
	return sessions.ApprovalDenied
}

// Approvals are the calls of an answer that wait for a word. Safe for concurrent use.
type Approvals struct {
	mu      sync.Mutex
	waiting map[string]*asked // by the id of the request
}

// asked is a request that waits.
type asked struct {
	// stored says that it has a row.
	stored bool
	// word comes here when it cannot come by the row, and look when the row is to be read.
	word chan Decision
	look chan struct{}
}

func NewApprovals() *Approvals { return &Approvals{waiting: map[string]*asked{}} }

// ask opens a request.
func (a *Approvals) ask(request string, stored bool) *asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := &asked{stored: stored, word: make(chan Decision, 1), look: make(chan struct{}, 1)} // one word each
	a.waiting[request] = one
	return one
}

// Unstored says that a request waits that has no row.
func (a *Approvals) Unstored(request string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.waiting[request]
	return one != nil && !one.stored
}

// Answer hands a word over; false when nobody waits for it.
func (a *Approvals) Answer(request string, d Decision) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, ok := a.waiting[request]
	if ok {
		delete(a.waiting, request)
		one.word <- d
	}
	return ok
}

// look has those who wait read their rows.
func (a *Approvals) look() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.waiting {
		select {
		case one.look <- struct{}{}:
		default: // it will
		}
	}
}

// drop closes a request that was not answered.
func (a *Approvals) drop(request string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, request)
}

// RequestOf names the request for a call's approval: by the call's id, so that a word cannot meet
// another call.
func RequestOf(callID string) string { return RequestPrefix + callID }
