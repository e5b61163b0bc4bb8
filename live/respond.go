package live

import (
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// acceptResult is the turn that holds an acceptResult message, or why it was not stored.
type acceptResult struct {
	turn sessions.Turn
	err  error
}

// respond begins the answer that a Respond asks for, or has it wait.
func (e *engine) respond(live *Live, c Respond) {
	if e.respondWithOperator(live, c) {
		return
	}
	own := live.clientTools
	if c.ClientTools != nil {
		own = c.ClientTools
	}
	offered := clientOffers(c.ToolChoice, own)
	if !offered && !c.OutOfBand {
		offered = e.offers(c.ToolChoice, own)
	}
	if !offered {
		live.push(Failed{CommandID: c.CommandID, Err: turns.ToolNotOffered(c.ToolChoice)})
		return
	}
	input, err := e.inputOf(c.Input)
	if err == nil && !c.OutOfBand && len(e.waiting) >= turns.MaxWaitingResponds {
		err = fault.New(fault.RateLimitedReason, "Too many answers wait already. Wait for one to end.")
	}
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: postgres.Decide(err)})
		return
	}
	request := answerRequest{live: live, command: c, input: input, requestedAt: e.s.sessions.Now(), blocked: e.client.blocked()}
	if c.OutOfBand {
		e.respondOutOfBand(request)
		return
	}
	e.waiting = append(e.waiting, request)
	e.startNext()
}

// acceptAndRespond carries out a message and its Respond. When an answer can start now, its runner
// stores the message with the turn's begin. The engine waits until it has, so that no later message
// is stored first.
func (e *engine) acceptAndRespond(live *Live, c Ask) {
	if !e.canStartNow() || !c.Respond.isPlain() || !c.Message.isSayable() {
		e.acceptMessage(live, c.Message)
		e.respond(live, c.Respond)
		return
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	message := c.Message.stored()
	if refused := e.assignItemID(ctx, &message); refused != nil {
		live.push(Failed{CommandID: c.Message.CommandID, Err: refused})
		e.respond(live, c.Respond)
		return
	}
	start := e.newStart("")
	start.Turn, start.Said = sessions.TurnID(idgen.New(idgen.Turn)), []sessions.Message{message}
	ahead := e.takeAhead(message.Text)
	if ahead != nil {
		start.Turn = ahead.Turn
	}
	stored := make(chan acceptResult, 1) // Accepted is called once
	start.Accepted = func(turn sessions.Turn, err error) { stored <- acceptResult{turn, err} }
	turnCtx, run, r := e.prepare(answerRequest{live: live, command: c.Respond, requestedAt: e.s.sessions.Now()}, start)
	r.Ahead = ahead
	e.client.userSpoke()
	e.launch(turnCtx, run, r)
	result := <-stored
	if result.err != nil { // answerFinished follows
		e.rejectMessage(ctx, live, c.Message.CommandID, result.err)
		return
	}
	run.open = true
	e.sendAccepted(live, c.Message.CommandID, result.turn, message)
}

// cancelAnswer stops an answer.
func (e *engine) cancelAnswer(live *Live, c Cancel) {
	run := e.outOfBand[c.ResponseID]
	if run == nil && (c.ResponseID == "" || (e.current != nil && c.ResponseID == e.current.responseID)) {
		run = e.current
	}
	switch {
	case run == nil || run.doneSent:
		live.push(Failed{CommandID: c.CommandID, Err: fault.Wrap(ErrNothingToCancel, fault.InvalidRequest,
			"No such answer is in progress.")})
	case c.Speech:
		run.cancel(turns.ErrInterrupted)
	default:
		run.cancel(turns.ErrStopped)
	}
}
