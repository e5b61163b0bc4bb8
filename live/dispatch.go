package live

import (
	"errors"
	"runtime/debug"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// runAndRetire runs a function of the inbox. It returns true when the engine has left the node.
func (e *engine) runAndRetire(work func()) bool {
	e.run(work)
	if !e.retire() {
		return false
	}
	e.client.stop()
	e.s.workers.Done()
	return true
}

// run runs a function. A panic closes the sockets of this session only; their clients connect
// again.
func (e *engine) run(work func()) {
	defer func() {
		if panicked := recover(); panicked != nil {
			e.s.log.Error("conversation panicked", "session_id", e.id, "error", panicked, telemetry.KeyStack, string(debug.Stack()))
			for _, live := range e.sockets() {
				e.drop(live, Closed{Code: CloseInternal, Reason: sessions.ReasonInternal})
			}
		}
	}()
	work()
}

// carryOut carries out a command.
func (e *engine) carryOut(live *Live, command Command) {
	if e.attached[live.channel] != live || e.ending != nil {
		e.carryOutLate(live, command)
		return
	}
	if run := e.current; run != nil && run.doneSent && len(run.deferred) < maxDeferred {
		run.deferred = append(run.deferred, deferredCommand{live: live, command: command}) // the client has seen the answer's end
		return
	}
	if e.deferUntilRemoval(live, command) {
		return
	}
	previous := live.lastCommand
	live.lastCommand = command
	switch c := command.(type) {
	case UserMessage:
		e.acceptMessage(live, c)
	case ToolOutput:
		e.acceptToolOutput(live, c)
	case Approve:
		e.approve(live, c)
	case Respond:
		if !e.isDuplicate(c, previous) {
			e.respond(live, c)
		}
	case Ask:
		e.acceptAndRespond(live, c)
	case Anticipate:
		e.anticipate(live, c)
	case Cancel:
		if e.current == nil && e.watching != "" && len(e.outOfBand) == 0 {
			e.cancelOnOtherNode()
			return
		}
		e.cancelAnswer(live, c)
	case Configure:
		e.configure(live, c)
	case Greet:
		e.createGreeting(live)
	case Feedback:
		e.saveFeedback(live, c)
	case Activity:
		e.recordActivity()
	case SwitchLanguage:
		e.switchLanguage(c.Tag)
	case Insert:
		e.insert(live, c)
	case Retrieve:
		e.retrieve(live, c)
	case Remove:
		e.remove(live, c)
	case Truncate:
		e.truncate(live, c)
	case End:
		e.endSession(live, c)
	}
}

// finish ends the conversation's current answer, and carries out the commands that waited for it.
func (e *engine) finish(run *answer, outcome turns.Outcome) {
	e.current = nil
	live, attached := run.live, e.receives(run.live)
	if outcome.Turn.Status == "" { // it never began
		switch {
		case run.open && e.unanswered == "":
			e.unanswered = run.turn
		case run.open && !run.resumed: // a later turn is the unanswered one
			e.abandonTurn(run.turn)
		}
		switch {
		case errors.Is(outcome.Err, turns.ErrNoOperator): // what was said waits for the client's Respond
			e.client.userSpoke()
			e.readHandover()
		case attached && e.ending == nil && !run.resumed: // a resumed turn may be another node's, and no socket here asked for it
			live.push(Failed{CommandID: run.commandID, Err: sessions.ForEndUser(postgres.Decide(outcome.Err))})
		}
	} else {
		e.noteTurnEnded(outcome.Turn)
		e.sendTurn(outcome.Turn, live)
		e.session.Language = outcome.Session.Language
		if !outcome.Session.Handover.SameAs(e.session.Handover) {
			e.readHandover()
		}
	}
	e.dropIfDone(live)
	if outcome.Session.Closed() {
		closed := closedBy(outcome.Session)
		e.ending = &closed
	}
	for _, deferred := range run.deferred {
		e.carryOut(deferred.live, deferred.command)
	}
	if e.ending != nil {
		e.closeSession(*e.ending)
		return
	}
	e.startNext()
}

// observeTurn adds a turn that was taken without a socket. It may hold results of the client's
// calls.
func (e *engine) observeTurn(turn sessions.Turn) {
	e.noteTurnEnded(turn)
	e.cache.Observe(turn)
	for _, m := range turn.Messages {
		if m.Role == sessions.RoleTool {
			e.client.resolve(m.CallID)
		}
	}
	e.sendTurn(turn, nil)
	e.startNext()
}

// retire removes the engine from the node when it has nothing left to do.
func (e *engine) retire() bool {
	if len(e.attached)+len(e.away) > 0 || e.current != nil || len(e.outOfBand)+len(e.waiting) > 0 {
		return false
	}
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining > 0 {
		return false
	}
	delete(e.s.engines.shard(e.id), e.id)
	e.dropAhead()
	return true
}
