package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/approvals"
)

// isDuplicate reports whether a Respond asks for an answer that the client gets anyway: directly
// after a result that an answer has taken together with others, and directly after an Approve, with
// which the answer continues by itself.
func (e *engine) isDuplicate(c Respond, previous Command) bool {
	switch previous.(type) {
	case ToolOutput:
		return e.unanswered == "" && e.client.skipDuplicate(c)
	case Approve:
		return e.current != nil && c.mayBeDuplicate()
	}
	return false
}

// acceptToolOutput stores a client's result of a call.
func (e *engine) acceptToolOutput(live *Live, c ToolOutput) {
	output := turns.ToolOutput{CallID: c.CallID, Output: c.Output, IsError: c.IsError}
	if refused := output.Check(""); refused != nil {
		live.push(Failed{CommandID: c.CommandID, Err: refused})
		return
	}
	message := output.Message()
	message.ItemID, message.After = c.ItemID, c.After
	if !e.answerClientCall(live, c.CommandID, message) {
		return
	}
	e.client.unasked = 0
	e.leaveToOperator(live)
	if c.Respond && len(e.waiting) < turns.MaxWaitingResponds && !e.answerQueued() {
		e.waiting = append(e.waiting, answerRequest{live: live, command: Respond{CommandID: c.CommandID, Spoken: live.speaks.Load()}})
	}
	e.startNext()
}

// answerClientCall stores the result of a client's call, or that the client sent none. It returns
// false when it could not; live, which may be nil, is told why.
func (e *engine) answerClientCall(live *Live, commandID string, message sessions.Message) bool {
	call := e.client.waiting[message.CallID]
	now := e.s.sessions.Now()
	message.Result.StartedAt = now
	if call != nil {
		message.Result.ToolID = tools.ClientPrefix + call.Name
		message.Result.StartedAt, message.Result.LatencyMS = call.AskedAt, sessions.Milliseconds(now.Sub(call.AskedAt))
	}
	if !e.accept(live, commandID, message) {
		return false
	}
	e.client.resolve(message.CallID)
	e.client.results++
	if call != nil && e.s.tools != nil {
		e.traceClientCall(call, message)
	}
	return true
}

// traceClientCall records a client's call in the tool history.
func (e *engine) traceClientCall(call *clientCall, message sessions.Message) {
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	traced := sessions.TracedCall(e.session, call.OpenCall, message.Text, *message.Result)
	traced.Untracked = e.s.turns.Offline()
	e.s.turns.KeepTrace(ctx, turns.TraceParams{
		Session: e.session, Turn: sessions.TurnID(traced.TurnID), Offline: traced.Untracked, Trace: e.s.tools.TraceClient(ctx, traced),
	})
}

// expireCall gives a call whose time is over an error as its result, and has the model go on, at
// most maxUnasked times in a row.
func (e *engine) expireCall(call *clientCall) {
	if e.client.waiting[call.ID] != call || e.ending != nil {
		return
	}
	words := fmt.Sprintf("The client has not answered within %d s, so nothing is known of this call. Go on without it, and tell the user.",
		sessions.ClientToolTimeout(e.session.Config)/time.Second)
	message := sessions.Message{
		Role: sessions.RoleTool, CallID: call.ID, Text: sessions.ErrorText(string(sessions.CodeClientTimeout), words),
		Result: &sessions.CallResult{ErrorCode: string(sessions.CodeClientTimeout), ErrorMessage: words},
	}
	if !e.answerClientCall(nil, "", message) {
		e.client.resolve(call.ID) // another node has its result, or the session has ended
	} else if live := e.answerSocket(call); live != nil && !call.LaterTurnEnded && len(e.waiting) == 0 && !e.client.blocked() &&
		e.client.unasked < maxUnasked {
		e.client.unasked++
		e.waiting = append(e.waiting, answerRequest{live: live, command: Respond{Spoken: live.speaks.Load()}})
	}
	e.startNext()
}

// answerSocket returns the socket that gets the answer to a call's result: the one that asked for
// the call's answer, its successor, or any other; nil when there is none.
func (e *engine) answerSocket(call *clientCall) *Live {
	if call.live != nil && e.socketOf(call.live.channel) != nil {
		return e.socketOf(call.live.channel)
	}
	for _, live := range e.sockets() {
		return live
	}
	return nil
}

// approve passes a client's decision to the call that waits for it.
func (e *engine) approve(live *Live, c Approve) {
	if err := approvals.CheckReason(c.Reason); err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
	if err := e.decide(c.RequestID, approvals.Decision{Approved: c.Approved, Reason: c.Reason, By: approvals.BySocket}); err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
}

// decide stores a decision in the request's row, where the node that asked finds it. While Postgres
// is unavailable, and for a request without a row, it gives the decision to the answer on this
// node.
func (e *engine) decide(request string, d approvals.Decision) *fault.Error {
	unknown := fault.InvalidField("approval_request_id", "unknown",
		"No call waits for this approval: it was answered, or its time is over.")
	answerHere := func() bool { return e.current != nil && e.current.approvals.Answer(request, d) }
	if e.current != nil && e.current.approvals.Unstored(request) && answerHere() {
		return nil
	}
	call, ok := strings.CutPrefix(request, turns.RequestPrefix)
	if !ok {
		return unknown
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) error {
		_, err := e.s.turns.Approvals.DecideCall(ctx, e.session, call, d)
		return err
	})
	switch {
	case err == nil, turns.IsOffline(err) && answerHere():
		return nil
	case fault.IsReason(err, fault.ResourceNotFound), fault.IsReason(err, fault.ApprovalDecided):
		return unknown
	}
	return postgres.Decide(err)
}
