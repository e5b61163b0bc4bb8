package live

import (
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// While a person has the session (sessions.Handover) the model is not asked. What clients say is
// taken as a turn all the same, by a runner that stores it and gives no answer. The session's row
// decides about each turn; what the engine knows of it only saves an answer that is not given.

// readHandover reads whether a person has the session, or is to take it, and tells the sockets of a
// change. It reads within the engine, so that a later state is never replaced by an earlier one.
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
	for _, live := range e.sockets() {
		live.push(e.handoverChanged())
	}
	if e.session.Handover.WithOperator() {
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

// respondWithOperator takes a Respond while a person has the session; false when nobody has.
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
	live.push(turns.LeftToOperator{CommandID: c.CommandID})
	return true
}
