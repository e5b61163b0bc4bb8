package live

import (
	"context"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// While a person has the session (sessions.Handover) the model is not asked. What clients say is
// taken as a turn all the same, by a runner that stores it and gives no answer. The session's row
// decides about each turn; what the engine knows of it only saves an answer that is not given. When
// the row says that the person has given the session back, the turn stays unanswered, and the
// client's Respond has it answered.

// readHandover reads whether a person has the session, or is to take it, and tells the sockets of a
// change. The answer of a session that was taken over is stopped, should the notice to stop it have
// been missed. It reads within the engine, so that a later state is never replaced by an earlier
// one.
func (e *engine) readHandover() {
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	session, err := sessions.Find(ctx, e.s.db, e.tenant, e.id, "")
	if err != nil {
		e.s.log.WarnContext(ctx, "handover of a session not read", "session_id", e.id, "error", err)
		return
	}
	if session.Handover.SameAs(e.session.Handover) {
		return
	}
	e.session.Handover = session.Handover
	if e.withOperator() {
		e.s.turns.StopTurn(session.RunningTurnID)
	}
	for _, live := range e.sockets() {
		live.push(e.handoverChanged())
	}
	if e.withOperator() {
		e.dropAhead()
		e.leaveToOperator(e.anySocket())
	}
	e.startNext()
}

// handoverChanged is what sockets are told of the state.
func (e *engine) handoverChanged() HandoverChanged {
	return HandoverChanged{Status: e.session.Handover.Status, Operator: e.session.Handover.Operator}
}

// leaveToOperator has what was said and not answered stored as a turn that nobody answers. live may
// be nil: the next socket does it then.
func (e *engine) leaveToOperator(live *Live) {
	if live == nil || !e.withOperator() || e.unanswered == "" {
		return
	}
	e.waiting = append(e.waiting, answerRequest{
		live: live, command: Respond{IfUnanswered: true, Spoken: live.speaks.Load()}, stores: true,
	})
	e.startNext()
}

// storing reports whether what was said is being stored for the person, or waits to be.
func (e *engine) storing() bool {
	return e.current != nil && e.current.stores || slices.ContainsFunc(e.waiting, func(r answerRequest) bool { return r.stores })
}

// isDue reports whether a request that has waited is still to be carried out. A Respond to what was
// stored for the person meanwhile is answered here.
func (e *engine) isDue(request answerRequest) bool {
	nothingSaid := e.unanswered == "" && request.turn == ""
	switch {
	case request.stores:
		return e.withOperator() && !nothingSaid
	case nothingSaid && e.withOperator():
		request.live.push(turns.LeftToOperator{CommandID: request.command.CommandID})
		return false
	}
	return !request.command.IfUnanswered || e.unanswered != ""
}

// respondWithOperator takes a Respond while a person has the session; false when nobody has, and
// when the Respond is to wait until it is known whether what was said before it could be stored for
// the person.
func (e *engine) respondWithOperator(live *Live, c Respond) bool {
	if !e.withOperator() {
		return false
	}
	if c.OutOfBand {
		live.push(Failed{CommandID: c.CommandID, Err: fault.New(fault.SessionTakenOver,
			"A person has the conversation, so the model is not asked.")})
		return true
	}
	e.leaveToOperator(live)
	if e.storing() {
		return false
	}
	live.push(turns.LeftToOperator{CommandID: c.CommandID})
	return true
}
