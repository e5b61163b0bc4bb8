package live

import (
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// accepted is what became of what the user said: the turn that has it, or why it could not be
// written down.
type accepted struct {
	turn sessions.Turn
	err  error
}

// respond takes the wish for an answer.
func (e *engine) respond(live *Live, c Respond) {
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
		err = fault.New(fault.RateLimitedReason, "Too many answers wait already. Wait for one to be done.")
	}
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: postgres.Decide(err)})
		return
	}
	wanted := answerRequest{live: live, command: c, input: input, requestedAt: e.s.sessions.Now(), blocked: e.client.blocked()}
	if c.OutOfBand {
		e.respondOutOfBand(wanted)
		return
	}
	e.waiting = append(e.waiting, wanted)
	e.startNext()
}

// ask takes what the user said and the wish for an answer to it. When nothing is in the way the
// answer's runner writes both down, and the engine waits until it has: nothing that comes later may
// be written down before.
func (e *engine) acceptAndRespond(live *Live, c Ask) {
	if !e.canStartNow() || !c.Respond.isPlain() || !turns.IsSayable(c.Message.Text) {
		e.acceptMessage(live, c.Message)
		e.respond(live, c.Respond)
		return
	}
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	said := sessions.Message{Role: sessions.RoleUser, ItemID: c.Message.ItemID, After: c.Message.After, Text: c.Message.Text}
	if refused := e.assignItemID(ctx, &said); refused != nil {
		live.push(Failed{CommandID: c.Message.CommandID, Err: refused})
		e.respond(live, c.Respond)
		return
	}
	start := e.newStart("")
	start.Turn, start.Said = sessions.TurnID(idgen.New(idgen.Turn)), []sessions.Message{said}
	came := make(chan accepted, 1) // called once
	start.Accepted = func(turn sessions.Turn, err error) { came <- accepted{turn, err} }
	turnCtx, run, r := e.prepare(answerRequest{live: live, command: c.Respond, requestedAt: e.s.sessions.Now()}, start)
	e.client.userSpoke()
	e.launch(turnCtx, run, r)
	written := <-came
	if written.err != nil { // the answer's end follows
		e.rejectMessage(ctx, live, c.Message.CommandID, written.err)
		return
	}
	run.open = true
	e.sendAccepted(live, c.Message.CommandID, written.turn, said)
}

// cancel stops an answer.
func (e *engine) cancel(live *Live, c Cancel) {
	run := e.outOfBand[c.ResponseID]
	if run == nil && (c.ResponseID == "" || (e.current != nil && c.ResponseID == e.current.responseID)) {
		run = e.current
	}
	switch {
	case run == nil || run.doneSent:
		live.push(Failed{CommandID: c.CommandID, Err: fault.Wrap(ErrNothingToCancel, fault.InvalidRequest, "No such answer is going out.")})
	case c.Speech:
		run.cancel(turns.ErrInterrupted)
	default:
		run.cancel(turns.ErrStopped)
	}
}
