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
)

// doubled says that a Respond asks for what comes anyhow. It does so right behind a result that an
// answer has taken along with others, and right behind the word on a call, with which the answer
// goes on by itself.
func (e *engine) isDuplicate(c Respond, previous Command) bool {
	switch previous.(type) {
	case ToolOutput:
		return e.unanswered == "" && e.client.skipDuplicate(c)
	case Approve:
		return e.current != nil && c.mayBeDuplicate()
	}
	return false
}

// takeOutput takes a client's result of a call.
func (e *engine) acceptToolOutput(live *Live, c ToolOutput) {
	output := turns.ToolOutput{CallID: c.CallID, Output: c.Output, IsError: c.IsError}
	if refused := output.Check(""); refused != nil {
		live.push(Failed{CommandID: c.CommandID, Err: refused})
		return
	}
	said := output.Message()
	said.ItemID, said.After = c.ItemID, c.After
	if !e.answerClientCall(live, c.CommandID, said) {
		return
	}
	if c.Respond && len(e.waiting) < turns.MaxWaitingResponds && !e.answerQueued() {
		e.waiting = append(e.waiting, answerRequest{live: live, command: Respond{CommandID: c.CommandID}})
	}
	e.startNext()
}

// answerClientCall is the one way in which a call of a client gets its result: what the client
// sent, in any dialect, or that it sent nothing. False when it could not be taken; live, unless
// nil, is told why.
func (e *engine) answerClientCall(live *Live, commandID string, said sessions.Message) bool {
	call := e.client.waiting[said.CallID]
	now := e.s.sessions.Now()
	said.Result.StartedAt = now
	if call != nil {
		said.Result.ToolID = tools.ClientPrefix + call.Name
		said.Result.StartedAt, said.Result.LatencyMS = call.Begun, sessions.Milliseconds(now.Sub(call.Begun))
	}
	if !e.accept(live, commandID, said) {
		return false
	}
	e.client.resolve(said.CallID)
	e.client.results++
	if call != nil && e.s.tools != nil {
		e.traceClientCall(call, said)
	}
	return true
}

// traceClient writes a client's call down beside those of the service.
func (e *engine) traceClientCall(call *clientCall, said sessions.Message) {
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	traced := sessions.TracedCall(e.session, call.OpenCall, said.Text, *said.Result)
	traced.Untracked = e.s.turns.Offline()
	e.s.turns.KeepTrace(ctx, turns.TraceParams{
		Session: e.session, Turn: sessions.TurnID(traced.TurnID), Offline: traced.Untracked, Trace: e.s.tools.TraceClient(ctx, traced),
	})
}

// expire tells the model that a client has not answered, and has it go on.
func (e *engine) expireCall(call *clientCall) {
	if e.client.waiting[call.ID] != call || e.ending != nil {
		return
	}
	words := fmt.Sprintf("The client has not answered within %d s, so nothing is known of this call. Go on without it, and tell the user.",
		sessions.ClientToolTimeout(e.session.Config)/time.Second)
	said := sessions.Message{
		Role: sessions.RoleTool, CallID: call.ID, Text: sessions.ErrorText(string(sessions.CodeClientTimeout), words),
		Result: &sessions.CallResult{ErrorCode: string(sessions.CodeClientTimeout), ErrorMessage: words},
	}
	if !e.answerClientCall(nil, "", said) {
		e.client.resolve(call.ID) // another node has its result, or the session is over
	} else if live := e.answerSocket(call); live != nil && !call.MovedOn && len(e.waiting) == 0 && !e.client.blocked() {
		e.waiting = append(e.waiting, answerRequest{live: live})
	}
	e.startNext()
}

// asker is the socket that hears the answer to a call: the one that asked for it, one that took its
// place, or any; nil when there is none.
func (e *engine) answerSocket(call *clientCall) *Live {
	if call.live != nil && e.socketOf(call.live.channel) != nil {
		return e.socketOf(call.live.channel)
	}
	for _, live := range e.sockets() {
		return live
	}
	return nil
}

// approve hands the client's word to the call that waits for it.
func (e *engine) approve(live *Live, c Approve) {
	if err := turns.CheckReason(c.Reason); err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
	if err := e.decide(c.RequestID, turns.Decision{Approved: c.Approved, Reason: c.Reason, By: turns.BySocket}); err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
}

// decide passes a socket's word on: by the request's row, which any node may have asked with; while
// Postgres is away to the answer that goes out here.
func (e *engine) decide(request string, d turns.Decision) *fault.Error {
	unknown := fault.InvalidField("approval_request_id", "unknown", "No call waits for this approval: it was answered, or its time is over.")
	here := func() bool { return e.current != nil && e.current.approvals.Answer(request, d) }
	if e.current != nil && e.current.approvals.Unstored(request) && here() {
		return nil
	}
	call, ok := strings.CutPrefix(request, turns.RequestPrefix)
	if !ok {
		return unknown
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) error {
		_, err := e.s.turns.DecideCall(ctx, e.session, call, d)
		return err
	})
	switch {
	case err == nil, turns.IsOffline(err) && here():
		return nil
	case fault.IsReason(err, fault.ResourceNotFound), fault.IsReason(err, fault.ApprovalDecided):
		return unknown
	}
	return postgres.Decide(err)
}
