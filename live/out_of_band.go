package live

import (
	"context"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
)

// An answer out of band (Respond.OutOfBand) goes out beside the others and leaves nothing behind
// but its tokens in the session's usage: no turn, no items, no receipt. It may call the client's
// tools, whose results nobody waits for, and none of the agent's.

// maxAsides bounds the answers out of band that go out at once in a session.
const maxOutOfBand = 4

// respondAside begins an answer out of band.
func (e *engine) respondOutOfBand(wanted answerRequest) {
	if len(e.outOfBand) >= maxOutOfBand {
		wanted.live.push(Failed{CommandID: wanted.command.CommandID, Err: fault.New(fault.RateLimitedReason, "%d answers out of band are going out already. Wait for one to be done.", maxOutOfBand)})
		return
	}
	ctx, cancel := context.WithCancelCause(e.s.life)
	run := &answer{live: wanted.live, commandID: wanted.command.CommandID, responseID: idgen.New(idgen.Response), outOfBand: true, cancel: cancel}
	e.outOfBand[run.responseID] = run
	r := e.newRunner(wanted, run)
	r.Session, r.Aside = e.session, true
	e.s.workers.Go(func() {
		defer cancel(nil)
		e.inbox.send(outOfBandDone{run: run, err: r.RunAside(ctx)}) // the engine stays while it is going out
	})
}
