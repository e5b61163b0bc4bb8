package realtime

import (
	"context"
	"log/slog"
	"time"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
)

// inheritWithin bounds the wait for the socket before, which has been told to end and is on this node.
const inheritWithin = 5 * time.Second

// recorder is a dialect that keeps what it says in a journal. It outlives its socket: while the client
// is away it goes on with what the core tells, and a socket that comes back takes its dialect over.
type recorder struct {
	dialect  dialect.Dialect
	protocol string
	journal  *journal
	live     *conversation.Live
	relay    *relay // nil without Redis
	log      *slog.Logger
	// lastEventID is what a returning client says it saw last; empty: it does not say.
	lastEventID string
	// left is what the socket before has left; nil when there is none here.
	left *estate
	// trails are what sockets on other nodes were sent; nil when they are not needed, or lost.
	trails []*trail
}

// estate is what a socket leaves to the next one.
type estate struct {
	dialect  dialect.Returner
	protocol string
	frames   []kept
}

// record makes the dialect of a socket that has joined. It waits for the socket before on this node.
func (h *Handler) record(ctx context.Context, live *conversation.Live, protocol, lastEventID string, p dialect.Params) *recorder {
	r := &recorder{protocol: protocol, journal: newJournal(nil), live: live, lastEventID: lastEventID, relay: h.relay, log: h.deps.Log}
	if h.relay != nil {
		r.journal.sink = h.relay.sink(p.Session.ID, p.Channel, live.Number())
	}
	waiting, cancel := context.WithTimeout(ctx, inheritWithin)
	defer cancel()
	if left, ok := live.Inherited(waiting).(*estate); ok && left.protocol == protocol {
		r.left, r.dialect = left, left.dialect.(dialect.Dialect) //nolint:errcheck // estates are made of dialects
		return r
	}
	r.dialect = speak(protocol, p)
	if live.Resumed() && h.relay != nil {
		trails, err := h.relay.trails(ctx, p.Session.ID, p.Channel, live.Number())
		if err != nil {
			r.log.WarnContext(ctx, "frames not read from Redis: the client gets whole items", telemetry.KeySessionID, p.Session.ID, telemetry.KeyError, err)
		}
		r.trails = trails
	}
	return r
}

// Open is what goes out first: the dialect's greeting, then what a returning client missed.
func (r *recorder) Open() dialect.Step {
	if r.left == nil {
		step := r.dialect.Open()
		r.journal.add(step.Frames, markHello, "")
		if r.live.Resumed() && r.lastEventID != "" {
			r.catchUp(&step)
		}
		return step
	}
	step := r.left.dialect.Again(r.live.History())
	r.journal.add(step.Frames, markHello, "")
	missed, found := after(r.left.frames, r.lastEventID)
	if !found {
		if r.lastEventID != "" {
			r.join(&step, r.left.dialect.Missed(r.lastEventID))
		}
		missed = goingOut(r.left.frames)
	}
	r.resend(&step, missed)
	r.left = nil
	return step
}

// catchUp puts what the client missed behind the greeting, on a node that did not hold its last socket:
// the frames, and the items that are not in them.
func (r *recorder) catchUp(step *dialect.Step) {
	seen := r.lastEventID
	if frames, found := missed(r.trails, seen); found {
		r.resend(step, frames)
		for _, k := range frames {
			seen = k.ID
		}
	}
	if again, ok := r.dialect.(dialect.Returner); ok {
		r.join(step, again.Missed(seen))
	}
}

// join puts a step of the dialect behind another.
func (r *recorder) join(step *dialect.Step, next dialect.Step) {
	r.journal.add(next.Frames, 0, "")
	step.Frames, step.Commands = append(step.Frames, next.Frames...), append(step.Commands, next.Commands...)
	if step.Err == nil {
		step.Err = next.Err
	}
}

// resend puts frames behind a step as they were sent before.
func (r *recorder) resend(step *dialect.Step, frames []kept) {
	for _, k := range frames {
		if k.mark&markHello != 0 {
			continue // it was the greeting of another socket
		}
		r.journal.keep(k)
		step.Frames = append(step.Frames, k.Frame)
	}
}

// Frame takes a client's frame.
func (r *recorder) Frame(data []byte, text bool) dialect.Step {
	step := r.dialect.Frame(data, text)
	r.journal.add(step.Frames, 0, "")
	return step
}

// Event takes an event of the core; never Closed.
func (r *recorder) Event(e conversation.Event) dialect.Step {
	step := r.dialect.Event(e)
	switch e := e.(type) {
	case conversation.ResponseStarted:
		r.journal.add(step.Frames, markOpens, e.ResponseID)
	case conversation.ResponseDone:
		r.journal.add(step.Frames, markCloses, e.ResponseID)
	default:
		r.journal.add(step.Frames, 0, "")
	}
	return step
}

// Close is what the protocol says last; it is not kept.
func (r *recorder) Close(code int, reason string) dialect.Step { return r.dialect.Close(code, reason) }

// bequeath ends the recording and leaves what is there to the next socket.
func (r *recorder) bequeath() {
	r.journal.end()
	if returner, ok := r.dialect.(dialect.Returner); ok {
		r.live.Bequeath(&estate{dialect: returner, protocol: r.protocol, frames: r.journal.frames})
		return
	}
	r.live.Bequeath(nil)
}

// goOn records what the core tells a socket that is lost, until a next one comes or nothing more does.
func (r *recorder) goOn(log *slog.Logger) {
	r.journal.limit = awayJournalBytes
	for {
		e, err := r.live.Next(context.Background()) // every Live that is away gets its Closed
		if err != nil {
			return
		}
		switch e := e.(type) {
		case conversation.Closed:
			r.bequeath()
			return
		case conversation.Released: // there is no socket to close any more
			continue
		default:
			if step := r.Event(e); step.Err != nil {
				log.Error("frame not encoded", telemetry.KeyError, step.Err)
				r.live.Bequeath(nil)
			}
		}
	}
}
