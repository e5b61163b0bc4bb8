package live

import (
	"context"
	"maps"
	"slices"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// A socket that was lost leaves its Live behind, so that an answer goes on for whoever comes back:
//
//	            Leave(HungUp)                    Closed
//	attached ──────────────────► gone   away ──────────────► gone
//	   │  Detach: the connection was lost ▲
//	   └──────────────────────────────────┘  Released: told to go, and its answer is still going out
//
// An away Live gets its events as before. It is Closed when a socket of its channel comes (here:
// that one inherits the client's tools, the answer that is going out and what the socket left with
// Bequeath; on another node: once its answer is recorded), when DropGrace is over, and with the
// session.

// Released tells a socket to close with Code and Reason and to Detach: its answer is still going
// out, so events follow until Closed.
type Released struct {
	Code   CloseCode
	Reason string
}

// External is an event that Inject has put among the others.
type External struct{ Value any }

func (Released) IsEvent() {}

func (External) IsEvent() {}

// CloseGone is the code of the Closed that ends an away Live; no socket is there to send it to.
const CloseGone CloseCode = 1006

// faded says that nobody has come back for a Live.
type faded struct{ live *Live }

// Detach says that the socket is lost, and returns when the conversation has taken note. Events go
// on: Next must be called until Closed. It is a Leave: only the first of both does anything.
func (l *Live) Detach() { l.leave(left{live: l, how: Dropped, stays: true}) }

// Inject queues an event of the caller's own, as External, behind those that are there; false
// behind Closed.
func (l *Live) Inject(value any) bool { return l.push(External{Value: value}) }

// Unread gives back an event that Next returned and nobody has handled.
func (l *Live) Unread(e turns.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append([]turns.Event{e}, l.queue...)
}

// Bequeath leaves value to the socket that takes this one's place on this node. The first call
// counts; it is due behind Closed, and whenever the socket ends.
func (l *Live) Bequeath(value any) {
	select {
	case l.bequest <- value:
	default: // it has been left already
	}
}

// Inherited waits for what the socket before has left; nil when there was none here, or none that
// said anything before ctx ended. Only the first call returns it.
func (l *Live) Inherited(ctx context.Context) any {
	before := l.before
	l.before = nil
	if before == nil {
		return nil
	}
	select {
	case value := <-before.bequest:
		return value
	case <-ctx.Done():
		return nil
	}
}

// holds says that the socket, or what it left, takes events.
func (e *engine) holds(live *Live) bool {
	return e.lives[live.channel] == live || e.away[live.channel] == live
}

// at is the channel's Live, attached or away; nil when there is none.
func (e *engine) at(channel sessions.Channel) *Live {
	if live := e.lives[channel]; live != nil {
		return live
	}
	return e.away[channel]
}

// all are the Lives that take events, attached ones first.
func (e *engine) all() []*Live {
	all := make([]*Live, 0, len(e.lives)+len(e.away))
	for _, live := range e.lives {
		all = append(all, live)
	}
	for _, live := range e.away {
		all = append(all, live)
	}
	return all
}

// runs are the answers that are going out.
func (e *engine) runs() []*current {
	runs := slices.Collect(maps.Values(e.asides))
	if e.current != nil {
		runs = append(runs, e.current)
	}
	return runs
}

// busy says that an answer is going out for the Live.
func (e *engine) busy(live *Live) bool {
	return slices.ContainsFunc(e.runs(), func(run *current) bool { return run.live == live })
}

// drop ends a Live.
func (e *engine) drop(live *Live, closed Closed) {
	live.push(closed)
	if live.fading != nil {
		live.fading.Stop()
	}
	if e.lives[live.channel] == live {
		delete(e.lives, live.channel)
	}
	if e.away[live.channel] == live {
		delete(e.away, live.channel)
	}
	e.stopAsides(live, turns.ErrStopped)
}

// put away keeps a Live whose socket is lost; on a node that is being stopped only for its answer.
func (e *engine) putAway(live *Live) {
	delete(e.lives, live.channel)
	if e.restarting && !e.busy(live) {
		e.drop(live, Closed{Code: CloseRestart, Reason: reasonRestart})
		return
	}
	e.away[live.channel] = live
	live.handed = live.handed || e.restarting
	live.fading = time.AfterFunc(sessions.DropGrace, func() { e.send(faded{live: live}) })
}

// fade lets go of a Live that nobody came back for.
func (e *engine) fade(live *Live) {
	if e.away[live.channel] != live {
		return
	}
	live.handed = true
	e.release(live)
}

// release drops an away Live that is only there for an answer, once that has gone out.
func (e *engine) release(live *Live) {
	if e.away[live.channel] == live && live.handed && !e.busy(live) {
		e.drop(live, Closed{Code: CloseGone, Reason: "gone"})
	}
}

// sendAway closes an attached socket with the code; what goes out for it goes on.
func (e *engine) sendAway(live *Live, code CloseCode, reason string) {
	if !e.busy(live) {
		e.drop(live, Closed{Code: code, Reason: reason})
		return
	}
	live.push(Released{Code: code, Reason: reason})
	live.handed = true
	e.putAway(live)
}

// inherit lets a socket take the place of the one before on this node. The caller holds the runs'
// handing.
func (e *engine) inherit(live, older *Live) {
	live.before, live.known, live.clientTools, live.lost = older, older.known, older.clientTools, older.lost
	live.toolChoice, live.maxOutputTokens = older.toolChoice, older.maxOutputTokens
	for _, run := range e.runs() {
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

// Reasons of a Closed that are not the session's.
const (
	reasonReplaced = "replaced"
	reasonRestart  = "restart"
)
