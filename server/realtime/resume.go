package realtime

import (
	"cmp"
	"context"
	"time"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/server/realtime/dialect"
)

const (
	// handoverTimeout bounds the wait for the client's last socket on this node, which has been
	// asked to end.
	handoverTimeout = 5 * time.Second
	// storeDelay is how long frames that the client has seen may take to Redis: some flushes of a
	// store.
	storeDelay = 500 * time.Millisecond
)

// newResumable makes the dialect of a socket that has joined. It waits for what the client's last
// socket on this node hands over.
func (h *Handler) newResumable(
	ctx context.Context, joined conversation, wire wire, p dialect.Params,
) *resumable {
	r := &resumable{
		protocol: wire.protocol, buffer: newReplayBuffer(nil), live: joined, lastEventID: wire.lastEventID,
		log: h.deps.Log, finished: map[string]bool{}, outOfBand: map[string]bool{},
	}
	if h.frames != nil && !p.Session.KeepsNothing() && !wire.isCall {
		r.store = h.frames
		r.buffer.stream = r.store.stream(p.Session.ID, p.Channel, joined.Number())
	}
	waiting, cancel := context.WithTimeout(ctx, handoverTimeout)
	defer cancel()
	if left, ok := joined.AwaitHandover(waiting).(*handover); ok && left.protocol == wire.protocol {
		r.previous = left
		r.dialect = left.dialect.(dialect.Dialect) //nolint:errcheck // handOver puts dialects there
		return r
	}
	r.dialect = wire.newDialect(p)
	if joined.Resumed() && r.store != nil && (r.lastEventID != "" || joined.AnsweredElsewhere()) {
		r.readRemote(ctx, p)
	}
	return r
}

// readRemote reads what the client's sockets on other nodes were sent. It reads again for a while
// when the frames that the client has seen are still on their way to Redis.
func (r *resumable) readRemote(ctx context.Context, p dialect.Params) {
	reading, cancel := context.WithTimeout(ctx, storeDelay)
	defer cancel()
	if !r.readStreams(ctx, p) {
		ticker.Until(reading, followInterval, func() (done bool) { return r.readStreams(ctx, p) })
	}
}

// readStreams reads what the client's sockets on other nodes were sent, and reports whether
// reading again is of no use.
func (r *resumable) readStreams(ctx context.Context, p dialect.Params) (done bool) {
	streams, err := r.store.read(ctx, p.Session.ID, p.Channel, r.live.Number())
	if err != nil {
		r.log.WarnContext(ctx, "frames not read from Redis: the client gets whole items",
			telemetry.KeySessionID, p.Session.ID, telemetry.KeyError, err)
		return true
	}
	r.remote = streams
	_, found := missedFrames(streams, r.lastEventID)
	return found || r.lastEventID == "" && len(streams) > 0 && hasOpenAnswer(streams[0].frames)
}

// Open is what goes out first: the dialect's greeting, then what a returning client missed.
func (r *resumable) Open() dialect.Step {
	switch {
	case r.previous != nil:
		return r.reopen()
	case r.live.Resumed():
		return r.openFromRemote()
	}
	step := r.dialect.Open()
	r.buffer.add(step.Frames, markGreeting, "")
	return step
}

// reopen opens behind the client's last socket on this node.
func (r *resumable) reopen() dialect.Step {
	previous := r.previous
	step := previous.dialect.Reopen(r.live.History())
	missed, found := framesAfter(previous.frames, r.lastEventID)
	seen := previous.frames[:len(previous.frames)-len(missed)]
	if !found {
		missed, seen = splitOpen(previous.frames)
	}
	r.buffer.inherit(seen)
	r.buffer.add(step.Frames, markGreeting, "")
	if !found && r.lastEventID != "" {
		r.addMissed(&step, previous.dialect.Missed(r.lastEventID), markWhole)
	}
	r.resend(&step, missed)
	r.buffer.limitToContent()
	r.previous, r.finished, r.outOfBand = nil, previous.finished, previous.outOfBand
	if len(previous.remote) > 0 {
		r.follower = follow(r.store, previous.remote, r.live)
	}
	for _, e := range previous.heldEvents {
		join(&step, r.Event(e))
	}
	return step
}

// openFromRemote opens for a client whose last socket was on another node: what the client missed
// of the frames there, and the items that are not in them.
func (r *resumable) openFromRemote() dialect.Step {
	step := r.dialect.Open()
	lastSeen := r.lastEventID
	missed, found := missedFrames(r.remote, lastSeen)
	mark := markWhole
	if found {
		r.buffer.inherit([]sentFrame{{Frame: dialect.Frame{ID: lastSeen}}})
		mark = 0 // the items after the frames are sent for the first time
	}
	r.buffer.add(step.Frames, markGreeting, "")
	if lastSeen == "" && r.live.AnsweredElsewhere() && len(r.remote) > 0 {
		missed, _ = splitOpen(r.remote[0].frames)
		found = true
	}
	r.resend(&step, missed)
	for _, frame := range missed {
		lastSeen = cmp.Or(frame.ID, lastSeen) // a greeting may have no id
	}
	if resumer, ok := r.dialect.(dialect.Resumer); ok && r.lastEventID != "" {
		r.addMissed(&step, resumer.Missed(lastSeen), mark)
	}
	r.buffer.limitToContent()
	for _, remote := range r.remote {
		r.noteFinished(remote.frames)
	}
	if r.live.AnsweredElsewhere() && found {
		r.follower = follow(r.store, r.remote, r.live)
	}
	r.remote = nil
	return step
}

// addMissed records a step of the dialect and appends it to another.
func (r *resumable) addMissed(step *dialect.Step, missed dialect.Step, marks frameMark) {
	r.buffer.add(missed.Frames, marks, "")
	join(step, missed)
}
