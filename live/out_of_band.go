package live

import (
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
)

// An answer out of band (Respond.OutOfBand) is given beside the others and leaves only its tokens
// in the session's usage: no turn, no items, no receipt. It may call the client's tools, whose
// results are not awaited, and none of the agent's.

// maxOutOfBand bounds the answers out of band that are in progress at once in a session.
const maxOutOfBand = 4

// respondOutOfBand begins an answer out of band.
func (e *engine) respondOutOfBand(wanted answerRequest) {
	if len(e.outOfBand) >= maxOutOfBand {
		wanted.live.push(Failed{CommandID: wanted.command.CommandID, Err: fault.New(fault.RateLimitedReason, "%d answers out of band are in progress already. Wait for one to end.", maxOutOfBand)})
		return
	}
	ctx, cancel := context.WithCancelCause(e.s.life)
	run := &answer{live: wanted.live, commandID: wanted.command.CommandID, responseID: idgen.New(idgen.Response), outOfBand: true, cancel: cancel}
	e.outOfBand[run.responseID] = run
	r := e.newRunner(wanted, run)
	r.Session, r.Aside = e.session, true
	e.s.workers.Go(func() {
		defer cancel(nil)
		e.inbox.send(outOfBandDone{run: run, err: r.RunAside(ctx)}) // accepted: the engine does not retire while it is in progress
	})
}
