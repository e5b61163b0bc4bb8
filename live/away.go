package live

import (
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// A socket that is lost leaves its Live behind, so that the answer continues for the client that
// comes back:
//
//	            Leave(HungUp)                    Closed
//	attached ──────────────────► gone   away ──────────────► gone
//	   │  Detach: the connection was lost ▲
//	   └──────────────────────────────────┘  Released: told to close while its answer is in progress
//
// An away Live gets its events as before. It is closed with the session, when DropGrace has passed,
// or when a socket of its channel joins. A socket on this node takes over the client's tools, the
// answer in progress and what the lost socket left with LeaveHandover. When the socket joins
// another node, the Live is closed once its answer is recorded.

// CloseGone is the code of the Closed that ends an away Live. It is not sent to a socket.
const CloseGone CloseCode = 1006

// drop ends a Live.
func (e *engine) drop(live *Live, closed Closed) {
	live.push(closed)
	if live.awayTimer != nil {
		live.awayTimer.Stop()
	}
	if e.attached[live.channel] == live {
		delete(e.attached, live.channel)
	}
	if e.away[live.channel] == live {
		delete(e.away, live.channel)
	}
	e.cancelOutOfBand(live, turns.ErrStopped)
}

// keepAway keeps a Live whose socket is lost. On a node that is being stopped it is kept only for
// its answer.
func (e *engine) keepAway(live *Live) {
	delete(e.attached, live.channel)
	if e.restarting && !e.hasAnswer(live) {
		e.drop(live, Closed{Code: CloseRestart, Reason: reasonRestart})
		return
	}
	e.away[live.channel] = live
	live.dropWhenIdle = live.dropWhenIdle || e.restarting
	live.awayTimer = time.AfterFunc(sessions.DropGrace, func() { e.inbox.send(func() { e.expireAway(live) }) })
}

// dropIfDone drops an away Live that is kept only for its answer, once that has ended.
func (e *engine) dropIfDone(live *Live) {
	if e.away[live.channel] == live && live.dropWhenIdle && !e.hasAnswer(live) {
		e.drop(live, Closed{Code: CloseGone, Reason: "gone"})
	}
}

// expireAway ends the wait for an away Live's client.
func (e *engine) expireAway(live *Live) {
	if e.away[live.channel] != live {
		return
	}
	live.dropWhenIdle = true
	e.dropIfDone(live)
}

// releaseSocket closes an attached socket with the code; its answer continues.
func (e *engine) releaseSocket(live *Live, code CloseCode, reason string) {
	if !e.hasAnswer(live) {
		e.drop(live, Closed{Code: code, Reason: reason})
		return
	}
	live.push(Released{Code: code, Reason: reason})
	live.dropWhenIdle = true
	e.keepAway(live)
}

// takeOver gives live the place of the older socket of its channel. The caller holds liveMu of all
// answers.
func (e *engine) takeOver(live, older *Live) {
	live.predecessor, live.known, live.clientTools, live.lostResponse = older, older.known, older.clientTools, older.lostResponse
	live.toolChoice, live.maxOutputTokens = older.toolChoice, older.maxOutputTokens
	for _, run := range e.answers() {
		if run.live == older {
			run.live = live
		}
	}
	for i := range e.waiting {
		if e.waiting[i].live == older {
			e.waiting[i].live = live
		}
	}
	for _, call := range e.client.waiting {
		if call.live == older {
			call.live = live
		}
	}
	e.drop(older, Closed{Code: CloseReplaced, Reason: reasonReplaced})
}

// cancelOutOfBand stops the answers out of band, of one socket or (nil) of all.
func (e *engine) cancelOutOfBand(of *Live, cause error) {
	for _, run := range e.outOfBand {
		if of == nil || run.live == of {
			run.cancel(cause)
		}
	}
}
