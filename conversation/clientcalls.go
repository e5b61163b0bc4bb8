package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/tools"
)

// A call that the client runs ends the answer it was made in:
//
//	ClientToolCalled ──► client ──► ToolOutput, Respond ──► the next answer
//	                       └── nothing within the agent's client_tool_timeout_seconds ──► the model is told
//
// The call stands in its turn's row and its result in a later one, so that any socket of the session
// can bring the result, also after a reconnect to another node. The engine only keeps the time, and
// holds back answers until all calls of the one before have their results.

const (
	// MaxClientOutputBytes bounds what a client may answer to a call.
	MaxClientOutputBytes = 256 << 10
	codeClientTimeout    = tools.CodeTimeout
	clientToolFailed     = "The client's tool failed."
)

// openCall is a call that waits for its client.
type openCall struct {
	turn      TurnID
	id        string
	name      string
	arguments json.RawMessage
	begun     time.Time
	// past says that the conversation has gone on since: nothing is said when its time is over.
	past bool
}

// clientCall is an open call as an engine waits for it.
type clientCall struct {
	openCall

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

// spares leaves out a Respond that asks for what another one has brought already: SDKs ask once for each result of
// parallel calls, and one answer takes them all.
func (c *clientCalls) spares(r Respond) bool {
	if c.spare == 0 || !r.mayBeDouble() {
		return false
	}
	c.spare--
	return true
}

// doubled says that a Respond asks for what comes anyhow. It does so right behind a result that an answer has taken along
// with others, and right behind the word on a call, with which the answer goes on by itself.
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
func (e *engine) called(run *current, event ClientToolCalled) openCall {
	return openCall{turn: run.turn, id: event.CallID, name: event.Name, arguments: event.Arguments, begun: e.s.moment()}
}

// openCalls are the client's calls that have no result yet.
func openCalls(turns []Turn) []openCall {
	answered := answeredCalls(turns)
	var open []openCall
	for i, turn := range turns {
		past := slices.ContainsFunc(turns[i+1:], func(later Turn) bool { return later.Status != TurnInProgress })
		for _, m := range turn.Messages {
			for _, call := range m.Calls {
				if call.Client && !m.Put && !answered[call.ID] {
					begun := turn.StartedAt.Add(time.Duration(m.At) * time.Millisecond)
					open = append(open, openCall{turn: turn.ID, id: call.ID, name: call.Name, arguments: call.Arguments, begun: begun, past: past})
				}
			}
		}
	}
	return open
}

func answeredCalls(turns []Turn) map[string]bool {
	answered := map[string]bool{}
	for _, turn := range turns {
		for _, m := range turn.Messages {
			if m.Role == roleTool {
				answered[m.CallID] = true
			}
		}
	}
	return answered
}

// clientToolTimeout is how long the agent gives its clients.
func clientToolTimeout(config agents.Config) time.Duration {
	if config.ClientToolTimeoutSeconds > 0 {
		return time.Duration(config.ClientToolTimeoutSeconds) * time.Second
	}
	return agents.DefaultClientToolTimeoutSeconds * time.Second
}

// awaitClient gives a call its time.
func (e *engine) awaitClient(open openCall, live *Live) {
	if _, waited := e.client.waiting[open.id]; waited {
		return
	}
	call := clientCall{openCall: open, live: live}
	left := clientToolTimeout(e.session.Config) - e.s.moment().Sub(call.begun)
	call.timer = time.AfterFunc(max(0, left), func() { e.send(expired{call: &call}) })
	e.client.waiting[call.id] = &call
	e.client.spoken = e.client.spoken || call.past
}

// takeOutput takes a client's result of a call.
func (e *engine) takeOutput(live *Live, c ToolOutput) {
	if !storable(c.CallID) || c.CallID == "" || len(c.CallID) > maxItemIDBytes {
		live.push(Failed{CommandID: c.CommandID, Err: fault.InvalidField("call_id", "length", "call_id names the call.")})
		return
	}
	if len(c.Output) > MaxClientOutputBytes || !storable(c.Output) {
		live.push(Failed{CommandID: c.CommandID, Err: fault.InvalidField("output", "length", "output is text of at most %d bytes, without the character U+0000. Send less.", MaxClientOutputBytes)})
		return
	}
	said := Message{Role: roleTool, ItemID: c.ItemID, CallID: c.CallID, After: c.After, Text: tools.CutForModel(c.Output), Result: &CallResult{}}
	if c.IsError {
		said.Result.ErrorCode, said.Result.ErrorMessage = codeClient, clientToolFailed
		said.Text = errorText(codeClient, clientToolFailed+" "+said.Text)
	}
	if !e.answerClientCall(live, c.CommandID, said) {
		return
	}
	if c.Respond && len(e.waiting) < maxWaitingResponds && !e.asked() {
		e.waiting = append(e.waiting, respond{live: live, command: Respond{CommandID: c.CommandID}})
	}
	e.next()
}

// asked says that an answer waits already which takes every result there is: parallel calls get one.
func (e *engine) asked() bool {
	return slices.ContainsFunc(e.waiting, func(r respond) bool { return r.turn == "" && r.command.plain() })
}

// answerClientCall is the one way in which a call of a client gets its result: what the client
// sent, in any dialect, or that it sent nothing. False when it could not be taken; live, unless nil,
// is told why.
func (e *engine) answerClientCall(live *Live, commandID string, said Message) bool {
	call := e.client.waiting[said.CallID]
	now := e.s.moment()
	said.Result.StartedAt = now
	if call != nil {
		said.Result.ToolID = tools.ClientPrefix + call.name
		said.Result.StartedAt, said.Result.LatencyMS = call.begun, milliseconds(now.Sub(call.begun))
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
func (e *engine) traceClient(call *clientCall, said Message) {
	ctx, cancel := context.WithTimeout(e.s.live, writeTimeout)
	defer cancel()
	traced := tracedCall(e.session, call.openCall, said.Text, *said.Result)
	traced.Untracked = e.s.spill.isAway()
	e.s.keepTrace(ctx, e.session, TurnID(traced.TurnID), traced.Untracked, e.s.tools.TraceClient(ctx, traced))
}

// tracedCall is a client's call with its result, as package tools keeps it.
func tracedCall(session Session, call openCall, output string, result CallResult) tools.ClientCall {
	traced := tools.ClientCall{
		Ref: session.Ref(), AgentID: session.AgentID, SessionID: string(session.ID), TurnID: string(call.turn), CallID: call.id, Name: call.name, Arguments: call.arguments,
		Output: output, StartedAt: call.begun, Latency: time.Duration(result.LatencyMS) * time.Millisecond,
	}
	if result.ErrorCode != "" {
		traced.Error = &tools.Error{Code: tools.Code(result.ErrorCode), Message: result.ErrorMessage}
	}
	return traced
}

// expire tells the model that a client has not answered, and has it go on.
func (e *engine) expire(call *clientCall) {
	if e.client.waiting[call.id] != call || e.ending != nil {
		return
	}
	words := fmt.Sprintf("The client has not answered within %d s, so nothing is known of this call. Go on without it, and tell the user.",
		clientToolTimeout(e.session.Config)/time.Second)
	said := Message{
		Role: roleTool, CallID: call.id, Text: errorText(string(codeClientTimeout), words),
		Result: &CallResult{ErrorCode: string(codeClientTimeout), ErrorMessage: words},
	}
	if !e.answerClientCall(nil, "", said) {
		e.client.settled(call.id) // another node has its result, or the session is over
	} else if live := e.asker(call); live != nil && !call.past && len(e.waiting) == 0 && !e.client.holds() {
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
	if err := checkReason(c.Reason); err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
	if err := e.decide(c.RequestID, decision{approved: c.Approved, reason: c.Reason, by: bySocket}); err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: err})
		return
	}
}

// decide passes a socket's word on: by the request's row, which any node may have asked with; while Postgres is away
// to the answer that goes out here.
func (e *engine) decide(request string, d decision) *fault.Error {
	unknown := fault.InvalidField("approval_request_id", "unknown", "No call waits for this approval: it was answered, or its time is over.")
	here := func() bool { return e.current != nil && e.current.approvals.answer(request, d) }
	if e.current != nil && e.current.approvals.unstored(request) && here() {
		return nil
	}
	call, ok := strings.CutPrefix(request, requestPrefix)
	if !ok {
		return unknown
	}
	ctx, cancel := context.WithTimeout(e.s.live, writeTimeout)
	defer cancel()
	err := e.s.attached(ctx, e.id, func(ctx context.Context) error {
		_, err := e.s.decide(ctx, e.session, call, d)
		return err
	})
	switch {
	case err == nil, e.s.isAdrift(err) && here():
		return nil
	case fault.IsReason(err, fault.ResourceNotFound), fault.IsReason(err, fault.ApprovalDecided):
		return unknown
	}
	return postgres.Decide(err)
}

// askedIn is the turn in which a client was asked to make a call that has no result yet. The session's
// row is locked. Errors: Invalid invalid-request on call_id.
func askedIn(ctx context.Context, tx bun.Tx, session Session, callID string) (Turn, error) {
	turns, err := selectTurnsHolding(ctx, tx, session, callID)
	if err != nil {
		return Turn{}, err
	}
	if answeredCalls(turns)[callID] {
		return Turn{}, fault.InvalidField("call_id", "answered", "The call %q has its result already: it was answered, or its time was over.", callID)
	}
	for _, turn := range turns {
		for _, m := range turn.Messages {
			if slices.ContainsFunc(m.Calls, func(c MessageCall) bool { return c.Client && c.ID == callID }) {
				return turn, nil
			}
		}
	}
	return Turn{}, fault.InvalidField("call_id", "unknown", "No call %q was made by this session for a client to answer.", callID)
}

// takeOutputs puts a client's results into a new turn and beside their calls. The session's row is
// locked. Errors: Invalid invalid-request on tool_outputs[i].call_id.
func takeOutputs(ctx context.Context, tx bun.Tx, session Session, start turnStart, turn *Turn, now time.Time) error {
	var answered []tools.ClientCall
	for i, said := range start.outputs {
		asked, err := askedIn(ctx, tx, session, said.CallID)
		if decided := fault.From(err); err != nil && decided.Reason == fault.InvalidRequest {
			return fault.InvalidField(fmt.Sprintf("tool_outputs[%d].call_id", i), decided.Fields[0].Code, "%s", decided.Fields[0].Message)
		}
		if err != nil {
			return err
		}
		result := *said.Result
		for _, call := range openCalls([]Turn{asked}) {
			if call.id != said.CallID {
				continue
			}
			result.ToolID, result.StartedAt = tools.ClientPrefix+call.name, call.begun
			result.LatencyMS = milliseconds(now.Sub(call.begun))
			answered = append(answered, tracedCall(session, call, said.Text, result))
		}
		said.Result = &result
		if asked.Status != TurnInProgress { // else finish does it
			asked.Messages = append(asked.Messages, said)
			if err := rewriteMessages(ctx, tx, asked); err != nil {
				return err
			}
		}
		turn.Messages = append(turn.Messages, said)
	}
	if start.answered != nil {
		*start.answered = answered
	}
	return nil
}

// adoptResults puts results that came in before a turn was recorded beside their calls.
func adoptResults(ctx context.Context, tx bun.Tx, session Session, turn *Turn) error {
	open := openCalls([]Turn{*turn})
	if len(open) == 0 {
		return nil
	}
	turns, err := selectTurns(ctx, tx, session)
	if err != nil {
		return err
	}
	for _, call := range open {
		for _, later := range turns {
			for _, m := range later.Messages {
				if m.Role == roleTool && m.CallID == call.id {
					turn.Messages = append(turn.Messages, m)
				}
			}
		}
	}
	return nil
}

// settleClientCalls gives the calls that clients have not answered their last result: the session is
// being closed.
func settleClientCalls(ctx context.Context, tx bun.Tx, turns []Turn) error {
	open := openCalls(turns)
	for i := range turns {
		changed := false
		for _, call := range open {
			if call.turn != turns[i].ID {
				continue
			}
			changed = true
			turns[i].Messages = append(turns[i].Messages, Message{
				Role: roleTool, CallID: call.id, Text: errorText(codeUnknown, outputClientGone),
				Result: &CallResult{ToolID: tools.ClientPrefix + call.name, ErrorCode: codeUnknown, ErrorMessage: outputClientGone, StartedAt: call.begun},
			})
		}
		if !changed {
			continue
		}
		if err := rewriteMessages(ctx, tx, turns[i]); err != nil {
			return err
		}
	}
	return nil
}
