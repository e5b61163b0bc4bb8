package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// clientCall is an open call as an engine waits for it.
type clientCall struct {
	sessions.OpenCall

	// live asked for the answer; nil when that was before this engine.
	live  *Live
	timer *time.Timer
}

// clientCalls are the engine's.
type clientCalls struct {
	waiting map[string]*clientCall // by call id
	// spoken says that the user has said something since: the answer to that does not wait.
	spoken bool
	// results counts those since the last answer began.
	results int
	// spare Responds come doubly, for results that the last answer has taken together.
	spare int
}

func newClientCalls() clientCalls { return clientCalls{waiting: map[string]*clientCall{}} }

// holds says that an answer has to wait for results.
func (c *clientCalls) holds() bool { return len(c.waiting) > 0 && !c.spoken }

func (c *clientCalls) heard() { c.spoken, c.spare = true, 0 }

// answering notes that an answer begins: it takes all results that are there.
func (c *clientCalls) answering() {
	c.spare = max(0, c.results-1)
	c.results, c.spoken = 0, false
}

// spares leaves out a Respond that asks for what another one has brought already: SDKs ask once for
// each result of parallel calls, and one answer takes them all.
func (c *clientCalls) spares(r Respond) bool {
	if c.spare == 0 || !r.mayBeDouble() {
		return false
	}
	c.spare--
	return true
}

// doubled says that a Respond asks for what comes anyhow. It does so right behind a result that an
// answer has taken along with others, and right behind the word on a call, with which the answer
// goes on by itself.
func (e *engine) doubled(c Respond, behind Command) bool {
	switch behind.(type) {
	case ToolOutput:
		return e.unanswered == "" && e.client.spares(c)
	case Approve:
		return e.current != nil && c.mayBeDouble()
	}
	return false
}

// settled takes a call off; false when it was not waited for.
func (c *clientCalls) settled(id string) bool {
	call, waited := c.waiting[id]
	if waited {
		call.timer.Stop()
		delete(c.waiting, id)
	}
	return waited
}

// stop ends the timers with the engine.
func (c *clientCalls) stop() {
	for id := range c.waiting {
		c.settled(id)
	}
}

// called is a call that goes out now.
func (e *engine) called(run *current, event turns.ClientToolCalled) sessions.OpenCall {
	return sessions.OpenCall{Turn: run.turn, ID: event.CallID, Name: event.Name, Arguments: event.Arguments, Begun: e.s.sessions.Now()}
}

// awaitClient gives a call its time.
func (e *engine) awaitClient(open sessions.OpenCall, live *Live) {
	if _, waited := e.client.waiting[open.ID]; waited {
		return
	}
	call := clientCall{OpenCall: open, live: live}
	left := sessions.ClientToolTimeout(e.session.Config) - e.s.sessions.Now().Sub(call.Begun)
	call.timer = time.AfterFunc(max(0, left), func() { e.send(expired{call: &call}) })
	e.client.waiting[call.ID] = &call
	e.client.spoken = e.client.spoken || call.MovedOn
}

// takeOutput takes a client's result of a call.
func (e *engine) takeOutput(live *Live, c ToolOutput) {
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
	if c.Respond && len(e.waiting) < turns.MaxWaitingResponds && !e.asked() {
		e.waiting = append(e.waiting, respond{live: live, command: Respond{CommandID: c.CommandID}})
	}
	e.next()
}

// asked says that an answer waits already which takes every result there is: parallel calls get
// one.
func (e *engine) asked() bool {
	return slices.ContainsFunc(e.waiting, func(r respond) bool { return r.turn == "" && r.command.plain() })
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
	e.client.settled(said.CallID)
	e.client.results++
	if call != nil && e.s.tools != nil {
		e.traceClient(call, said)
	}
	return true
}

// traceClient writes a client's call down beside those of the service.
func (e *engine) traceClient(call *clientCall, said sessions.Message) {
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	traced := sessions.TracedCall(e.session, call.OpenCall, said.Text, *said.Result)
	traced.Untracked = e.s.turns.Offline()
	e.s.turns.KeepTrace(ctx, turns.TraceParams{
		Session: e.session, Turn: sessions.TurnID(traced.TurnID), Offline: traced.Untracked, Trace: e.s.tools.TraceClient(ctx, traced),
	})
}

// expire tells the model that a client has not answered, and has it go on.
func (e *engine) expire(call *clientCall) {
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
		e.client.settled(call.ID) // another node has its result, or the session is over
	} else if live := e.asker(call); live != nil && !call.MovedOn && len(e.waiting) == 0 && !e.client.holds() {
		e.waiting = append(e.waiting, respond{live: live})
	}
	e.next()
}

// asker is the socket that hears the answer to a call: the one that asked for it, one that took its
// place, or any; nil when there is none.
func (e *engine) asker(call *clientCall) *Live {
	if call.live != nil && e.at(call.live.channel) != nil {
		return e.at(call.live.channel)
	}
	for _, live := range e.all() {
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
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
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
