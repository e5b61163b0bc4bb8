package live

import (
	"context"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// closeSession closes every socket, once the answers in progress are recorded.
func (e *engine) closeSession(closed Closed) {
	e.stopAnswering()
	e.cancelOutOfBand(nil, turns.ErrEnding)
	if e.current != nil || len(e.outOfBand) > 0 {
		e.ending = &closed
		return
	}
	for _, live := range e.sockets() {
		e.drop(live, closed)
	}
}

// stopAnswering stops the answer in progress and forgets those that wait: the session ends.
func (e *engine) stopAnswering() {
	e.waiting = nil
	if e.current != nil {
		e.current.cancel(turns.ErrEnding)
	}
}

// finishOutOfBand ends an answer out of band.
func (e *engine) finishOutOfBand(run *answer, err error) {
	delete(e.outOfBand, run.responseID)
	if !run.doneSent && e.ending == nil { // it never began
		run.live.push(Failed{CommandID: run.commandID, Err: postgres.Decide(err)})
	}
	e.dropIfDone(run.live)
	if e.ending != nil {
		e.closeSession(*e.ending)
	}
}

// endSession closes the session for a socket.
func (e *engine) endSession(live *Live, c End) {
	params := sessions.EndParams{Status: sessions.Completed, Reason: c.Reason}
	if c.Failed {
		params.Status = sessions.Failed
	}
	if params.Reason == "" {
		params.Reason = sessions.ReasonHangUp
	}
	if err := sessions.CheckEnd(&params); err != nil {
		live.push(Failed{Err: postgres.Decide(err)})
		return
	}
	e.stopAnswering()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.s.life), sessions.WriteTimeout)
	defer cancel()
	var session sessions.Session
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		session, err = e.s.sessions.RequestEnd(ctx, e.session, params.Status, params.Reason)
		return err
	})
	if turns.IsOffline(err) {
		session, err = e.s.turns.KeepEnd(turns.EndParams{Session: e.session, Status: params.Status, Reason: params.Reason})
	}
	if err != nil {
		live.push(Failed{Err: postgres.Decide(err)})
		return
	}
	if session.Closed() {
		e.closeSession(closedBy(session))
	}
}

// leave records that a socket is gone. The last socket to hang up, or to be lost for good, ends the
// session, and the session waits DropGrace for one that may come back. keepsEvents says that the
// Live goes on taking events for the socket that comes back.
func (e *engine) leave(live *Live, how Leaving, keepsEvents bool) {
	if e.attached[live.channel] != live {
		return // already replaced or closed
	}
	if keepsEvents {
		e.keepAway(live)
	} else {
		delete(e.attached, live.channel)
		live.discard()
		e.cancelOutOfBand(live, turns.ErrStopped)
	}
	ctx, cancel := context.WithTimeout(live.origin.Context(context.WithoutCancel(e.s.life)), sessions.WriteTimeout)
	defer cancel()
	now := e.s.sessions.Now()
	isOver := false
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) error {
		return e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			last, err := sessions.LeaveTx(ctx, tx, row, live.number, now)
			isOver = last && how != Dropped
			if err != nil || !isOver {
				return err
			}
			reason := sessions.ReasonHangUp
			switch {
			case how == Lost:
				reason = sessions.ReasonDisconnected
			case !row.JournalUntil.After(now): // otherwise the journal still has turns of the session
				if reason, err = sessions.HangUpReason(ctx, tx, *row); err != nil {
					return err
				}
			}
			return e.s.sessions.EndTx(ctx, tx, row, sessions.Completed, reason, now)
		})
	})
	if turns.IsOffline(err) {
		isOver = how != Dropped && len(e.attached) == 0 // as far as this node knows
		err = e.s.turns.KeepLeft(turns.LeftParams{Session: e.session, Socket: live.number, HungUp: how == HungUp, At: now})
	}
	switch {
	case err != nil: // heartbeats no longer refresh the socket's row, so the sweep finds it lost
		e.s.log.ErrorContext(ctx, "socket's leaving not recorded", "session_id", e.id, "error", err)
	case isOver:
		e.stopAnswering()
	}
}

// replaceSocket closes a socket when a later one of its channel has joined on any node.
func (e *engine) replaceSocket(channel sessions.Channel, number int64) {
	live := e.socketOf(channel)
	switch {
	case live == nil || live.number >= number:
	case e.attached[channel] == live:
		e.releaseSocket(live, CloseReplaced, reasonReplaced)
	default:
		live.dropWhenIdle = true
		e.dropIfDone(live)
	}
}

// sendSocketsAway closes the sockets because the node is being stopped. Answers in progress finish,
// and the clients connect to another node.
func (e *engine) sendSocketsAway() {
	e.restarting = true
	if len(e.waiting) > 0 && e.unanswered != "" { // the node where the client connects next answers
		ctx, cancel := context.WithTimeout(context.WithoutCancel(e.s.life), sessions.WriteTimeout)
		defer cancel()
		e.requestResume(ctx, e.unanswered)
	}
	e.waiting = nil
	for _, live := range e.sockets() {
		if e.away[live.channel] == live {
			live.dropWhenIdle = true
			e.dropIfDone(live)
			continue
		}
		e.leave(live, Dropped, true)
		// This does nothing after Closed, which keepAway sends when no answer is in progress.
		live.push(Released{Code: CloseRestart, Reason: reasonRestart})
	}
}
