package turns

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
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

func (p *pendingCall) needsApproval() bool {
	return p.known && p.broken == "" && p.entry.Enabled && p.entry.NeedsApproval
}

// RequestOf names the request for a call's approval: by the call's id, so that a word cannot meet
// another call.
func RequestOf(callID string) string { return RequestPrefix + callID }

func (p *pendingCall) approvalID() string { return RequestOf(p.Call.ID) }

// askApprovals announces the calls of a round that need one.
func (r *Runner) askApprovals(ctx context.Context, round []*pendingCall) error {
	var needing []*pendingCall
	var rows []sessions.Approval
	now := r.S.sessions.Now()
	for _, p := range round {
		if p.needsApproval() && r.Approvals != nil {
			needing = append(needing, p)
			rows = append(rows, sessions.Approval{
				CallID: p.Call.ID, TenantID: r.Session.TenantID, WorkspaceID: r.Session.WorkspaceID, SessionID: r.Session.ID, TurnID: r.Turn.ID, Losses: r.Turn.Losses,
				Name: p.Call.Name, Arguments: p.Call.Arguments, Status: sessions.ApprovalWaiting, CreatedAt: now, ExpiresAt: now.Add(r.S.approvalTimeout),
			})
		}
	}
	if len(needing) == 0 {
		return nil
	}
	stored, reachable := r.keepApprovals(ctx, rows)
	if !reachable {
		return nil // nobody is asked
	}
	for i, p := range needing {
		p.asked = r.Approvals.ask(p.approvalID(), stored)
		err := r.Tell(ApprovalRequested{
			ResponseID: r.ResponseID, RequestID: p.approvalID(), CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments,
			Timeout: r.S.approvalTimeout, AskedAt: now, ExpiresAt: rows[i].ExpiresAt,
		})
		if err != nil {
			r.withdraw(rows)
			return err
		}
	}
	if stored {
		r.S.tellFollowers(r.Turn.ID)
	}
	return nil
}

// keepApprovals writes down what is asked. Reachable is false when nobody could answer.
func (r *Runner) keepApprovals(ctx context.Context, rows []sessions.Approval) (stored, reachable bool) {
	if r.offline {
		return false, true
	}
	err := r.S.ReachSession(ctx, r.Session.ID, func(ctx context.Context) error { return insertApprovals(ctx, r.S.db, rows) })
	switch {
	case err == nil:
		return true, true
	case IsOffline(err):
		return false, r.Start.Cache != nil // a socket is on this node
	case ctx.Err() == nil:
		r.S.log.WarnContext(ctx, "approvals not asked for", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	}
	return false, false
}

// withdraw takes back what was asked, and nobody waits for any more.
func (r *Runner) withdraw(rows []sessions.Approval) {
	for _, row := range rows {
		r.Approvals.drop(RequestOf(row.CallID))
		_, _ = r.S.closeApproval(r.Session, row.CallID, sessions.ApprovalWithdrawn) // else it is over with its turn
	}
}

// approved waits for the word on a call, and says what is to be told of it. A nil error allows the
// call.
func (r *Runner) approved(ctx context.Context, p *pendingCall) (*sessions.CallApproval, *tools.Error) {
	if !p.needsApproval() {
		return nil, nil
	}
	if p.asked == nil {
		return nil, notApproved("This tool needs somebody's approval, and nobody could be asked. Tell the user that it was not done.")
	}
	defer r.Approvals.drop(p.approvalID())
	word := r.awaitWord(ctx, p)
	switch {
	case word.Status == sessions.ApprovalApproved:
		return word, nil
	case word.Status == sessions.ApprovalDenied && word.Reason != "":
		return word, notApproved("The call was not approved: " + word.Reason + " Do not call it again unless the user asks for it.")
	case word.Status == sessions.ApprovalDenied:
		return word, notApproved("The call was not approved. Do not call it again unless the user asks for it.")
	case word.Status == sessions.ApprovalWithdrawn:
		return word, notApproved("The call was not made: the answer was stopped before it was approved.")
	}
	return word, notApproved("Whoever was asked to approve the call did not answer in time, so it was not made.")
}

// awaitWord waits until the request is over.
func (r *Runner) awaitWord(ctx context.Context, p *pendingCall) *sessions.CallApproval {
	timer := time.NewTimer(r.S.approvalTimeout)
	defer timer.Stop()
	ticker := time.NewTicker(approvalPoll)
	defer ticker.Stop()
	for {
		select {
		case word := <-p.asked.word:
			return &sessions.CallApproval{Status: word.status(), DecidedBy: word.By, Reason: word.Reason, DecidedAt: r.S.sessions.Now()}
		case <-p.asked.look:
		case <-ticker.C:
		case <-timer.C:
			return r.closed(p, sessions.ApprovalExpired)
		case <-ctx.Done():
			return r.closed(p, sessions.ApprovalWithdrawn)
		}
		if !p.asked.stored {
			continue
		}
		row, err := selectApproval(ctx, r.S.db, r.Session, p.Call.ID)
		if err == nil && row.Status != sessions.ApprovalWaiting { // else the next look
			return row.Word()
		}
	}
}

// closed ends a request that nobody has answered; a word that came in the last moment counts.
func (r *Runner) closed(p *pendingCall, status sessions.ApprovalStatus) *sessions.CallApproval {
	if p.asked.stored {
		if row, err := r.S.closeApproval(r.Session, p.Call.ID, status); err == nil {
			return row.Word()
		}
	}
	return &sessions.CallApproval{Status: status, DecidedAt: r.S.sessions.Now()}
}

func notApproved(words string) *tools.Error {
	return &tools.Error{Code: sessions.CodeNotApproved, Message: words}
}
