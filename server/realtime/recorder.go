package realtime

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/turns"
)

// inheritWithin bounds the wait for the socket before, which has been told to end and is on this node.
const inheritWithin = 5 * time.Second

// settleWithin is how long the frames that a client has seen may take to Redis: some rounds of a relay.
const settleWithin = 500 * time.Millisecond

// recorder is a dialect that keeps what it says in a journal. It outlives its socket: while the client
// is away it goes on with what the core tells, and a socket that comes back takes its dialect over.
type recorder struct {
	dialect  dialect.Dialect
	protocol string
	journal  *journal
	live     *live.Live
	relay    *relay // nil without Redis
	log      *slog.Logger
	// lastEventID is what a returning client says it saw last; empty: it does not say.
	lastEventID string
	// left is what the socket before has left; nil when there is none here.
	left *estate
	// trails are what sockets on other nodes were sent; nil when they are not needed, or lost.
	trails []*trail
	// follower passes on an answer that another node gives; nil when there is none.
	follower *follower
	// closed are the answers whose last frame came from there.
	closed map[string]bool
	// asides are the answers out of band that are going out.
	asides map[string]bool
	// concluding is the end of that answer while its last frames have not come; held are the events behind it.
	concluding *live.AnswerEnded
	held       []turns.Event
}

// estate is what a socket leaves to the next one.
type estate struct {
	dialect  dialect.Returner
	protocol string
	frames   []kept
	// trails are what was followed, closed the answers that ended there; asides are those out of band.
	trails         []*trail
	closed, asides map[string]bool
	// held are events that were not told yet.
	held []turns.Event
}

// record makes the dialect of a socket that has joined. It waits for the socket before on this node.
func (h *Handler) record(ctx context.Context, live *live.Live, protocol, lastEventID string, p dialect.Params) *recorder {
	r := &recorder{protocol: protocol, journal: newJournal(nil), live: live, lastEventID: lastEventID, relay: h.relay, log: h.deps.Log, closed: map[string]bool{}, asides: map[string]bool{}}
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
	if live.Resumed() && h.relay != nil && (lastEventID != "" || live.Elsewhere()) {
		r.lookForTrails(ctx, p)
	}
	return r
}

// lookForTrails reads what the client's sockets on other nodes were sent. The newest frames may still be
// on their way to Redis.
func (r *recorder) lookForTrails(ctx context.Context, p dialect.Params) {
	looking, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		trails, err := r.relay.trails(ctx, p.Session.ID, p.Channel, r.live.Number())
		if err != nil {
			r.log.WarnContext(ctx, "frames not read from Redis: the client gets whole items", telemetry.KeySessionID, p.Session.ID, telemetry.KeyError, err)
			return
		}
		r.trails = trails
		if _, found := missed(trails, r.lastEventID); found || (r.lastEventID == "" && len(trails) > 0 && goesOut(trails[0].frames)) {
			return
		}
		select {
		case <-ticker.C:
		case <-looking.Done():
			return
		}
	}
}

// Open is what goes out first: the dialect's greeting, then what a returning client missed.
func (r *recorder) Open() dialect.Step {
	if r.left == nil {
		step := r.dialect.Open()
		if r.live.Resumed() {
			r.catchUp(&step)
		} else {
			r.journal.add(step.Frames, markHello, "")
		}
		return step
	}
	step := r.left.dialect.Again(r.live.History())
	again, found := after(r.left.frames, r.lastEventID)
	seen := r.left.frames[:len(r.left.frames)-len(again)]
	if !found {
		again, seen = goingOut(r.left.frames)
	}
	r.journal.inherit(seen)
	r.journal.add(step.Frames, markHello, "")
	if !found && r.lastEventID != "" {
		r.join(&step, r.left.dialect.Missed(r.lastEventID), markWhole)
	}
	r.resend(&step, again)
	r.journal.settle()
	left := r.left
	r.left, r.closed, r.asides = nil, left.closed, left.asides
	if len(left.trails) > 0 {
		r.follower = follow(r.relay, left.trails, r.live)
	}
	for _, e := range left.held {
		r.append(&step, r.Event(e))
	}
	return step
}

// catchUp puts what the client missed behind the greeting, on a node that did not hold its last socket:
// the frames, and the items that are not in them.
func (r *recorder) catchUp(step *dialect.Step) {
	seen := r.lastEventID
	frames, found := missed(r.trails, seen)
	whole := markWhole
	if found {
		r.journal.inherit([]kept{{Frame: dialect.Frame{ID: seen}}})
		whole = 0 // these are told for the first time
	}
	r.journal.add(step.Frames, markHello, "")
	if seen == "" && r.live.Elsewhere() && len(r.trails) > 0 {
		frames, _ = goingOut(r.trails[0].frames)
		found = true
	}
	r.resend(step, frames)
	for _, k := range frames {
		seen = cmp.Or(k.ID, seen) // a dialect's first frame has none where clients come back by no event of it
	}
	if again, ok := r.dialect.(dialect.Returner); ok && r.lastEventID != "" {
		r.join(step, again.Missed(seen), whole)
	}
	r.journal.settle()
	for _, t := range r.trails {
		r.noteClosed(t.frames)
	}
	if r.live.Elsewhere() && found {
		r.follower = follow(r.relay, r.trails, r.live)
	}
	r.trails = nil
}

// noteClosed remembers which answers have had their last frame.
func (r *recorder) noteClosed(frames []kept) {
	for _, k := range frames {
		if k.mark&markCloses != 0 {
			r.closed[k.response] = true
		}
	}
}

// join puts a step of the dialect behind another.
func (r *recorder) join(step *dialect.Step, next dialect.Step, marks mark) {
	r.journal.add(next.Frames, marks, "")
	step.Frames, step.Commands = append(step.Frames, next.Frames...), append(step.Commands, next.Commands...)
	if step.Err == nil {
		step.Err = next.Err
	}
}

// append puts a step, which is recorded already, behind another.
func (r *recorder) append(step *dialect.Step, next dialect.Step) {
	step.Frames, step.Commands = append(step.Frames, next.Frames...), append(step.Commands, next.Commands...)
	step.Pause = max(step.Pause, next.Pause)
	if step.Err == nil {
		step.Err = next.Err
	}
}

// resend puts frames behind a step as they were sent before, without the greetings of the sockets between, and without
// what those were told whole: the frames that told it first are here.
func (r *recorder) resend(step *dialect.Step, frames []kept) {
	another := false
	for _, k := range frames {
		another = another || k.mark&markHello != 0
		if k.mark&markHello != 0 || another && k.mark&markWhole != 0 {
			continue
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
func (r *recorder) Event(e turns.Event) dialect.Step {
	switch e := e.(type) {
	case live.External:
		return r.external(e.Value)
	case live.AnswerEnded:
		return r.answerEnded(e)
	}
	if r.concluding != nil {
		r.held = append(r.held, e)
		return dialect.Step{}
	}
	step := r.dialect.Event(e)
	response, marks := part(e)
	if started, ok := e.(turns.ResponseStarted); ok && started.OutOfBand {
		r.asides[response] = true
	}
	if r.asides[response] {
		marks |= markAside
	}
	if marks&markCloses != 0 {
		delete(r.asides, response)
	}
	r.journal.add(step.Frames, marks, response)
	return step
}

// part is the answer that an event is of, and what it is to it; "" when it is of none.
func part(e turns.Event) (response string, marks mark) {
	switch e := e.(type) {
	case turns.ResponseStarted:
		return e.ResponseID, markOpens
	case turns.ResponseDone:
		return e.ResponseID, markCloses
	case turns.MessageStarted:
		return e.ResponseID, 0
	case turns.TextDelta:
		return e.ResponseID, 0
	case turns.MessageDone:
		return e.ResponseID, 0
	case turns.ClientToolCalled: // the only calls of an answer out of band
		return e.ResponseID, 0
	}
	return "", 0
}

// external takes what the follower found.
func (r *recorder) external(value any) dialect.Step {
	var step dialect.Step
	switch v := value.(type) {
	case followed:
		r.resend(&step, v.frames)
		r.noteClosed(v.frames)
		if r.concluding != nil && r.closed[r.concluding.ResponseID] {
			r.append(&step, r.conclude())
		}
	case concluded:
		if r.concluding != nil && r.concluding.ResponseID == v.response {
			r.append(&step, r.conclude())
		}
	}
	return step
}

// answerEnded waits for the last frames of an answer that another node gave, when they are to come.
func (r *recorder) answerEnded(e live.AnswerEnded) dialect.Step {
	if r.concluding != nil {
		r.held = append(r.held, e)
		return dialect.Step{}
	}
	r.concluding = &e
	if r.follower == nil || e.ResponseID == "" || r.closed[e.ResponseID] {
		return r.conclude()
	}
	live, response := r.live, e.ResponseID
	time.AfterFunc(concludeWithin, func() { live.Inject(concluded{response: response}) })
	return dialect.Step{}
}

// conclude tells the end of another node's answer as far as its frames have not, and what was held behind it.
func (r *recorder) conclude() dialect.Step {
	e := *r.concluding
	e.Told = e.Told || r.closed[e.ResponseID]
	if r.follower != nil {
		r.follower.end()
		r.follower = nil
	}
	held := r.held
	r.concluding, r.held = nil, nil
	step := r.dialect.Event(e)
	r.journal.add(step.Frames, markCloses, e.ResponseID)
	for _, one := range held {
		r.append(&step, r.Event(one))
	}
	return step
}

// Close is what the protocol says last; it is not kept.
func (r *recorder) Close(code int, reason string) dialect.Step { return r.dialect.Close(code, reason) }

// bequeath ends the recording and leaves what is there to the next socket.
func (r *recorder) bequeath() {
	r.journal.end()
	left := &estate{protocol: r.protocol, frames: r.journal.frames, closed: r.closed, asides: r.asides, held: r.held}
	if r.follower != nil {
		r.follower.end()
		left.trails = r.follower.trails
	}
	if r.concluding != nil {
		left.held = append([]turns.Event{*r.concluding}, left.held...)
	}
	if returner, ok := r.dialect.(dialect.Returner); ok {
		left.dialect = returner
		r.live.Bequeath(left)
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
		case live.Closed:
			r.bequeath()
			return
		case live.Released: // there is no socket to close any more
			continue
		default:
			if step := r.Event(e); step.Err != nil {
				log.Error("frame not encoded", telemetry.KeyError, step.Err)
				r.live.Bequeath(nil)
			}
		}
	}
}
