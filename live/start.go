package live

import (
	"context"
	"slices"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// startNext starts the answer that has waited longest, when none is in progress.
func (e *engine) startNext() {
	if e.current != nil || e.watching != "" || len(e.waiting) == 0 || e.ending != nil || e.client.blocked() && !e.withOperator() {
		return
	}
	request := e.waiting[0]
	e.waiting = e.waiting[1:]
	if !e.isDue(request) {
		e.startNext()
		return
	}
	turn := e.unanswered
	if request.turn != "" { // the unanswered turn gets the answer after it
		turn = request.turn
	}
	start := e.newStart(turn)
	if !start.Open {
		start.Turn = sessions.TurnID(idgen.New(idgen.Turn))
	}
	ctx, run, r := e.prepare(request, start)
	e.launch(ctx, run, r)
}

// newStart is the start of an answer to an accepted turn, or (empty) of a new one.
func (e *engine) newStart(turn sessions.TurnID) turns.Start {
	return turns.Start{Session: e.session, Turn: turn, Open: turn != "", Cache: e.cache}
}

// prepare makes an answer and its runner. The caller must launch or cancel it.
func (e *engine) prepare(request answerRequest, start turns.Start) (context.Context, *answer, *turns.Runner) {
	ctx, cancel := context.WithCancelCause(e.s.life)
	run := &answer{
		live: request.live, commandID: request.command.CommandID, responseID: idgen.New(idgen.Response),
		turn: start.Turn, open: start.Open, approvals: turns.NewApprovals(), cancel: cancel,
	}
	run.resumed, run.stores = request.turn != "", request.stores
	start.Response, start.Stores = run.responseID, request.stores
	r := e.newRunner(request, run)
	r.Start, r.Start.Asked, r.Approvals = start, request.requestedAt, run.approvals
	return ctx, run, r
}

// launch runs an answer as the conversation's current one.
func (e *engine) launch(ctx context.Context, run *answer, r *turns.Runner) {
	e.current = run
	if r.Ahead == nil {
		e.dropAhead()
	}
	if run.turn == e.unanswered {
		e.unanswered = ""
		// The answer covers what these Respond to. If they stayed, they would answer later messages
		// that no client asked to be answered.
		e.waiting = slices.DeleteFunc(e.waiting, func(r answerRequest) bool { return r.command.IfUnanswered })
	}
	e.client.answerStarted()
	e.waiting = slices.DeleteFunc(e.waiting, func(r answerRequest) bool { return r.blocked && e.client.skipDuplicate(r.command) })
	e.s.turns.Go(func() {
		defer run.cancel(nil)
		outcome := r.Run(ctx)
		e.inbox.send(func() { e.finish(run, outcome) }) // accepted: the engine does not retire while an answer is in progress
	})
}

// newRunner makes the runner of an answer.
func (e *engine) newRunner(request answerRequest, run *answer) *turns.Runner {
	config := e.session.Config
	return &turns.Runner{
		S: e.s.turns, Start: turns.Start{Session: e.session}, Origin: &request.live.origin, Config: &config,
		Options: e.optionsOf(request), CommandID: run.commandID, ResponseID: run.responseID, CutsFunc: run.heardCuts,
		Emit: func(event turns.Event) error { e.passOn(run, event); return nil },
	}
}

// passOn passes an event of the answer on. Nearly all are pieces of text, which go to the socket
// directly, since the engine keeps nothing of them. Their MessageStarted has reached the socket
// before.
func (e *engine) passOn(run *answer, event turns.Event) {
	switch event.(type) {
	case turns.TextDelta:
		run.liveMu.Lock()
		defer run.liveMu.Unlock()
		run.live.push(event) // does nothing after Closed
	case turns.MessageStarted:
		e.inbox.call(func() { e.forward(run, event) })
	default:
		e.inbox.send(func() { e.forward(run, event) })
	}
}

// forward sends an event of an answer to the answer's socket.
func (e *engine) forward(run *answer, event turns.Event) {
	live := run.live
	if _, last := event.(turns.ResponseDone); last {
		run.doneSent = true
	}
	if run.outOfBand {
		if e.receives(live) {
			live.push(event)
		}
		return
	}
	if _, left := event.(turns.LeftToOperator); left && run.stores {
		return
	}
	if called, ok := event.(turns.ClientToolCalled); ok {
		e.awaitClientCall(e.newOpenCall(run, called), live)
	}
	item := startedItem(event)
	if item != "" {
		e.items.Put(item, "")
		run.items = append(run.items, item)
	}
	if !e.receives(live) {
		return
	}
	if item != "" {
		live.known[item] = true
	}
	live.push(event)
}

// startedItem returns the item that an event begins; empty when none.
func startedItem(event turns.Event) string {
	switch event := event.(type) {
	case turns.MessageStarted:
		return event.ItemID
	case turns.ToolStarted:
		return event.ItemID
	case turns.ClientToolCalled:
		return event.ItemID
	}
	return ""
}

// newOpenCall is a call that the client gets now.
func (e *engine) newOpenCall(run *answer, event turns.ClientToolCalled) sessions.OpenCall {
	return sessions.OpenCall{Turn: run.turn, ID: event.CallID, Name: event.Name, Arguments: event.Arguments, AskedAt: e.s.sessions.Now()}
}

// awaitClientCall waits for the client's result of a call until its time-out. live asked for the
// answer; may be nil.
func (e *engine) awaitClientCall(open sessions.OpenCall, live *Live) {
	if _, waited := e.client.waiting[open.ID]; waited {
		return
	}
	call := clientCall{OpenCall: open, live: live}
	left := sessions.ClientToolTimeout(e.session.Config) - e.s.sessions.Now().Sub(call.AskedAt)
	call.timer = time.AfterFunc(max(0, left), func() { e.inbox.send(func() { e.expireCall(&call) }) })
	e.client.waiting[call.ID] = &call
	e.client.spoken = e.client.spoken || call.LaterTurnEnded
}

// abandonTurn closes an accepted turn whose answer will not begin, so that the model sees what was
// said in it.
func (e *engine) abandonTurn(id sessions.TurnID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.s.life), sessions.WriteTimeout)
	defer cancel()
	if err := e.s.turns.Abandon(ctx, e.session, id); err != nil { // the session's end closes the turn
		e.s.log.WarnContext(ctx, "unanswered turn not closed", "session_id", e.id, "turn_id", id, "error", err)
	}
}

// An answer out of band (Respond.OutOfBand) is given beside the others and leaves only its tokens
// in the session's usage: no turn, no items, no receipt. It may call the client's tools, whose
// results are not awaited, and none of the agent's.

// maxOutOfBand bounds the answers out of band that are in progress at once in a session.
const maxOutOfBand = 4

// respondOutOfBand begins an answer out of band.
func (e *engine) respondOutOfBand(request answerRequest) {
	if len(e.outOfBand) >= maxOutOfBand {
		request.live.push(Failed{CommandID: request.command.CommandID, Err: fault.New(fault.RateLimitedReason,
			"%d answers out of band are in progress already. Wait for one to end.", maxOutOfBand)})
		return
	}
	ctx, cancel := context.WithCancelCause(e.s.life)
	run := &answer{
		live: request.live, commandID: request.command.CommandID, responseID: idgen.New(idgen.Response),
		outOfBand: true, cancel: cancel,
	}
	e.outOfBand[run.responseID] = run
	r := e.newRunner(request, run)
	r.Session, r.Aside = e.session, true
	e.s.workers.Go(func() {
		defer cancel(nil)
		err := r.RunOutOfBand(ctx)
		e.inbox.send(func() { e.finishOutOfBand(run, err) }) // accepted: the engine does not retire while it is in progress
	})
}
