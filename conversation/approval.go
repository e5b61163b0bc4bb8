package conversation

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/tools"
)

// A call whose entry says NeedsApproval is made only when the client allows it:
//
//	ApprovalRequested ──► client ──► Approve   (Deps.ApprovalTimeout, 60 s)
//
// The turn waits meanwhile; other calls of the round do not. Without a client, over HTTP, the model
// is told that nobody could be asked.

const (
	// approvalTimeout is how long a person gets to read what is asked for and to decide.
	approvalTimeout = 60 * time.Second
	codeNotApproved = tools.Code("not-approved")
)

// decision is the client's word on a call.
type decision struct {
	approved bool
	reason   string
}

// approvals are the calls of an answer that wait for a word. Safe for concurrent use.
type approvals struct {
	mu      sync.Mutex
	waiting map[string]chan decision // by the id of the request
}

func newApprovals() *approvals { return &approvals{waiting: map[string]chan decision{}} }

// ask opens a request and says where its answer comes.
func (a *approvals) ask(request string) <-chan decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	word := make(chan decision, 1) // one word each
	a.waiting[request] = word
	return word
}

// answer hands the client's word over; false when nobody waits for it.
func (a *approvals) answer(request string, d decision) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	word, ok := a.waiting[request]
	if ok {
		delete(a.waiting, request)
		word <- d
	}
	return ok
}

// drop closes a request that was not answered.
func (a *approvals) drop(request string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, request)
}

func (p *pendingCall) needsApproval() bool {
	return p.known && p.entry.Enabled && p.entry.NeedsApproval
}

// askApprovals announces the calls of a round that need one.
func (r *runner) askApprovals(round []*pendingCall) error {
	if r.approvals == nil {
		return nil
	}
	for _, p := range round {
		if !p.needsApproval() {
			continue
		}
		word := r.approvals.ask(p.approvalID())
		err := r.tell(ApprovalRequested{
			ResponseID: r.responseID, RequestID: p.approvalID(), CallID: p.call.ID, Name: p.call.Name, Arguments: p.call.Arguments,
			Timeout: r.s.approvalTimeout,
		})
		if err != nil {
			return err
		}
		p.word = word
	}
	return nil
}

// approvalID names the request: the call's id, so that the client's word cannot meet another call.
func (p *pendingCall) approvalID() string { return "mcpr_" + p.call.ID }

// approved waits for the client's word on a call. nil allows it.
func (r *runner) approved(ctx context.Context, p *pendingCall) *tools.Error {
	if !p.needsApproval() {
		return nil
	}
	if p.word == nil {
		return notApproved("This tool needs the approval of the client, and no client is connected that could be asked. Tell the user that it was not done.")
	}
	defer r.approvals.drop(p.approvalID())
	timer := time.NewTimer(r.s.approvalTimeout)
	defer timer.Stop()
	select {
	case word := <-p.word:
		if word.approved {
			return nil
		}
		if word.reason != "" {
			return notApproved("The call was not approved: " + word.reason + " Do not call it again unless the user asks for it.")
		}
		return notApproved("The call was not approved. Do not call it again unless the user asks for it.")
	case <-timer.C:
		return notApproved("The client was asked to approve the call and did not answer in time, so it was not made.")
	case <-ctx.Done():
		return notApproved("The call was not made: the answer was stopped before it was approved.")
	}
}

func notApproved(words string) *tools.Error {
	return &tools.Error{Code: codeNotApproved, Message: words}
}
