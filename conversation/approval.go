package conversation

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/tools"
)

// A call whose entry says NeedsApproval is made only when somebody allows it:
//
//	call_approvals row, ApprovalRequested ──► socket, stream ──► Approve, Service.Decide on any node
//	      └── the row, and a notification ──► the runner        (Deps.ApprovalTimeout, 60 s)
//
// The turn waits meanwhile; other calls of the round do not. The row is the truth: the first word in it counts. A
// socket's answer goes on without the row while Postgres is away: then its own node has to hear the word.

const (
	// approvalTimeout is how long a person gets to read what is asked for and to decide.
	approvalTimeout = 60 * time.Second
	// approvalPoll is how often the row is looked at although nobody says that it has changed.
	approvalPoll    = time.Second
	codeNotApproved = tools.Code("not-approved")
	// requestPrefix makes a call's id the id of its request's item.
	requestPrefix = "mcpr_"
	// bySocket and byToken are who decides without a key.
	bySocket = "socket"
	byToken  = "session_token"
)

// decision is somebody's word on a call.
type decision struct {
	approved bool
	reason   string
	// by is who said it: key_…, bySocket or byToken.
	by string
}

// status is the word as it is stored.
func (d decision) status() ApprovalStatus {
	if d.approved {
		return ApprovalApproved
	}
	return ApprovalDenied
}

// approvals are the calls of an answer that wait for a word. Safe for concurrent use.
type approvals struct {
	mu      sync.Mutex
	waiting map[string]*asked // by the id of the request
}

// asked is a request that waits.
type asked struct {
	// stored says that it has a row.
	stored bool
	// word comes here when it cannot come by the row, and look when the row is to be read.
	word chan decision
	look chan struct{}
}

func newApprovals() *approvals { return &approvals{waiting: map[string]*asked{}} }

// ask opens a request.
func (a *approvals) ask(request string, stored bool) *asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := &asked{stored: stored, word: make(chan decision, 1), look: make(chan struct{}, 1)} // one word each
	a.waiting[request] = one
	return one
}

// unstored says that a request waits that has no row.
func (a *approvals) unstored(request string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.waiting[request]
	return one != nil && !one.stored
}

// answer hands a word over; false when nobody waits for it.
func (a *approvals) answer(request string, d decision) bool {
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
func (a *approvals) look() {
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
func (a *approvals) drop(request string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, request)
}

func (p *pendingCall) needsApproval() bool {
	return p.known && p.broken == "" && p.entry.Enabled && p.entry.NeedsApproval
}

// RequestOf names the request for a call's approval: by the call's id, so that a word cannot meet another call.
func RequestOf(callID string) string { return requestPrefix + callID }

func (p *pendingCall) approvalID() string { return RequestOf(p.call.ID) }

// askApprovals announces the calls of a round that need one.
func (r *runner) askApprovals(ctx context.Context, round []*pendingCall) error {
	var needing []*pendingCall
	var rows []Approval
	now := r.s.moment()
	for _, p := range round {
		if p.needsApproval() && r.approvals != nil {
			needing = append(needing, p)
			rows = append(rows, Approval{
				CallID: p.call.ID, TenantID: r.session.TenantID, WorkspaceID: r.session.WorkspaceID, SessionID: r.session.ID, TurnID: r.turn.ID, Losses: r.turn.Losses,
				Name: p.call.Name, Arguments: p.call.Arguments, Status: ApprovalWaiting, CreatedAt: now, ExpiresAt: now.Add(r.s.approvalTimeout),
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
		p.asked = r.approvals.ask(p.approvalID(), stored)
		err := r.tell(ApprovalRequested{
			ResponseID: r.responseID, RequestID: p.approvalID(), CallID: p.call.ID, Name: p.call.Name, Arguments: p.call.Arguments,
			Timeout: r.s.approvalTimeout, AskedAt: now, ExpiresAt: rows[i].ExpiresAt,
		})
		if err != nil {
			r.withdraw(rows)
			return err
		}
	}
	if stored {
		r.s.tellFollowers(r.turn.ID)
	}
	return nil
}

// keepApprovals writes down what is asked. Reachable is false when nobody could answer.
func (r *runner) keepApprovals(ctx context.Context, rows []Approval) (stored, reachable bool) {
	if r.adrift {
		return false, true
	}
	err := r.s.attached(ctx, r.session.ID, func(ctx context.Context) error { return insertApprovals(ctx, r.s.db, rows) })
	switch {
	case err == nil:
		return true, true
	case r.s.isAdrift(err):
		return false, r.start.recall != nil // a socket is on this node
	case ctx.Err() == nil:
		r.s.log.WarnContext(ctx, "approvals not asked for", "session_id", r.session.ID, "turn_id", r.turn.ID, "error", err)
	}
	return false, false
}

// withdraw takes back what was asked, and nobody waits for any more.
func (r *runner) withdraw(rows []Approval) {
	for _, row := range rows {
		r.approvals.drop(RequestOf(row.CallID))
		_, _ = r.s.closeApproval(r.session, row.CallID, ApprovalWithdrawn) // else it is over with its turn
	}
}

// approved waits for the word on a call, and says what is to be told of it. A nil error allows the call.
func (r *runner) approved(ctx context.Context, p *pendingCall) (*CallApproval, *tools.Error) {
	if !p.needsApproval() {
		return nil, nil
	}
	if p.asked == nil {
		return nil, notApproved("This tool needs somebody's approval, and nobody could be asked. Tell the user that it was not done.")
	}
	defer r.approvals.drop(p.approvalID())
	word := r.awaitWord(ctx, p)
	switch {
	case word.Status == ApprovalApproved:
		return word, nil
	case word.Status == ApprovalDenied && word.Reason != "":
		return word, notApproved("The call was not approved: " + word.Reason + " Do not call it again unless the user asks for it.")
	case word.Status == ApprovalDenied:
		return word, notApproved("The call was not approved. Do not call it again unless the user asks for it.")
	case word.Status == ApprovalWithdrawn:
		return word, notApproved("The call was not made: the answer was stopped before it was approved.")
	}
	return word, notApproved("Whoever was asked to approve the call did not answer in time, so it was not made.")
}

// awaitWord waits until the request is over.
func (r *runner) awaitWord(ctx context.Context, p *pendingCall) *CallApproval {
	timer := time.NewTimer(r.s.approvalTimeout)
	defer timer.Stop()
	ticker := time.NewTicker(approvalPoll)
	defer ticker.Stop()
	for {
		select {
		case word := <-p.asked.word:
			return &CallApproval{Status: word.status(), DecidedBy: word.by, Reason: word.reason, DecidedAt: r.s.moment()}
		case <-p.asked.look:
		case <-ticker.C:
		case <-timer.C:
			return r.closed(p, ApprovalExpired)
		case <-ctx.Done():
			return r.closed(p, ApprovalWithdrawn)
		}
		if !p.asked.stored {
			continue
		}
		row, err := selectApproval(ctx, r.s.db, r.session, p.call.ID)
		if err == nil && row.Status != ApprovalWaiting { // else the next look
			return row.word()
		}
	}
}

// closed ends a request that nobody has answered; a word that came in the last moment counts.
func (r *runner) closed(p *pendingCall, status ApprovalStatus) *CallApproval {
	if p.asked.stored {
		if row, err := r.s.closeApproval(r.session, p.call.ID, status); err == nil {
			return row.word()
		}
	}
	return &CallApproval{Status: status, DecidedAt: r.s.moment()}
}

func notApproved(words string) *tools.Error {
	return &tools.Error{Code: codeNotApproved, Message: words}
}
