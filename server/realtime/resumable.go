package realtime

import (
	"context"
	"log/slog"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/turns"
)

// resumable is a dialect whose frames are kept, so that a client that was lost is sent what it
// missed. It outlives its socket: while the client is away it goes on with the conversation's
// events. The client's next socket on this node takes the dialect over, one on another node reads
// the frames from Redis.
type resumable struct {
	dialect  dialect.Dialect
	protocol string
	buffer   *replayBuffer
	live     conversation
	// store is nil without Redis, and for sessions that keep nothing.
	store *frameStore
	log   *slog.Logger
	// lastEventID is the last event that a returning client has seen; empty: it names none.
	lastEventID string
	// previous is what the client's last socket on this node handed over; nil: nothing.
	previous *handover
	// remote is what sockets on other nodes were sent; nil: it is not needed, or lost.
	remote []*remoteFrames

	// follower passes on an answer that another node gives; nil: there is none.
	follower *follower
	// finished has the answers whose last frame came from there, outOfBand the open ones out of
	// band.
	finished, outOfBand map[string]bool
	// remoteEnd is the end of such an answer while its last frames have not come. heldEvents are
	// the events behind it.
	remoteEnd  *live.AnswerEnded
	heldEvents []turns.Event
}

// handover is what a socket leaves to the client's next one on this node.
type handover struct {
	dialect  dialect.Resumer
	protocol string
	frames   []sentFrame
	// remote is what was followed. The others are as in resumable.
	remote              []*remoteFrames
	finished, outOfBand map[string]bool
	heldEvents          []turns.Event
}

// Frame takes a text frame of the client.
func (r *resumable) Frame(data []byte) dialect.Step {
	return r.record(r.dialect.Frame(data))
}

// BinaryFrame takes a binary frame of the client.
func (r *resumable) BinaryFrame() dialect.Step { return r.record(r.dialect.BinaryFrame()) }

// record records the frames of a step that are of no answer.
func (r *resumable) record(step dialect.Step) dialect.Step {
	r.buffer.add(step.Frames, 0, "")
	return step
}

// Close is what the protocol sends last; it is not kept.
func (r *resumable) Close(code int, reason string) dialect.Step { return r.dialect.Close(code, reason) }

// Event takes an event of the conversation, but never Closed.
func (r *resumable) Event(e turns.Event) dialect.Step {
	switch e := e.(type) {
	case live.External:
		return r.takeInjected(e.Value)
	case live.AnswerEnded:
		return r.endRemoteAnswer(e)
	}
	if r.remoteEnd != nil {
		r.heldEvents = append(r.heldEvents, e)
		return dialect.Step{}
	}
	step := r.dialect.Event(e)
	responseID, marks := answerOf(e)
	if started, ok := e.(turns.ResponseStarted); ok && started.OutOfBand {
		r.outOfBand[responseID] = true
	}
	if r.outOfBand[responseID] {
		marks |= markOutOfBand
	}
	if marks&markLast != 0 {
		delete(r.outOfBand, responseID)
	}
	r.buffer.add(step.Frames, marks, responseID)
	return step
}

// answerOf is the answer that an event belongs to, and its mark there; empty: it belongs to none.
func answerOf(e turns.Event) (responseID string, marks frameMark) {
	switch e := e.(type) {
	case turns.ResponseStarted:
		return e.ResponseID, markFirst
	case turns.ResponseDone:
		return e.ResponseID, markLast
	}
	return turns.ResponseOf(e), 0
}

// takeInjected takes an event of the follower.
func (r *resumable) takeInjected(value any) dialect.Step {
	var step dialect.Step
	switch v := value.(type) {
	case framesFollowed:
		r.resend(&step, v.frames)
		r.noteFinished(v.frames)
		if r.remoteEnd != nil && r.finished[r.remoteEnd.ResponseID] {
			join(&step, r.sendRemoteEnd())
		}
	case lastFramesDue:
		if r.remoteEnd != nil && r.remoteEnd.ResponseID == v.responseID {
			join(&step, r.sendRemoteEnd())
		}
	}
	return step
}

// resend adds frames to a step as they were sent before. It leaves out the greetings of sockets in
// between, and items that those sockets were sent whole: the frames that introduced them are here.
func (r *resumable) resend(step *dialect.Step, frames []sentFrame) {
	behindGreeting := false
	for _, frame := range frames {
		isGreeting := frame.is(markGreeting)
		behindGreeting = behindGreeting || isGreeting
		if isGreeting || behindGreeting && frame.is(markWhole) {
			continue
		}
		r.buffer.append(frame)
		step.Frames = append(step.Frames, frame.Frame)
	}
}

// noteFinished notes the answers whose last frame is among these.
func (r *resumable) noteFinished(frames []sentFrame) {
	for _, frame := range frames {
		if frame.is(markLast) {
			r.finished[frame.responseID] = true
		}
	}
}

// join puts a step, whose frames are kept already, behind another.
func join(step *dialect.Step, next dialect.Step) {
	step.Frames = append(step.Frames, next.Frames...)
	step.Commands = append(step.Commands, next.Commands...)
	step.Pause = max(step.Pause, next.Pause)
	if step.Err == nil {
		step.Err = next.Err
	}
}

// handOver ends the recording and leaves what is there to the client's next socket on this node.
func (r *resumable) handOver() {
	r.buffer.end()
	left := &handover{
		protocol: r.protocol, frames: r.buffer.frames, finished: r.finished, outOfBand: r.outOfBand,
		heldEvents: r.heldEvents,
	}
	if r.follower != nil {
		r.follower.end()
		left.remote = r.follower.streams
	}
	if r.remoteEnd != nil {
		left.heldEvents = append([]turns.Event{*r.remoteEnd}, left.heldEvents...)
	}
	resumer, ok := r.dialect.(dialect.Resumer)
	if !ok {
		r.live.LeaveHandover(nil)
		return
	}
	left.dialect = resumer
	r.live.LeaveHandover(left)
}

// recordUntilClosed keeps the frames for a client that is away, until its next socket comes or the
// conversation has nothing more to send.
func (r *resumable) recordUntilClosed(log *slog.Logger) {
	r.buffer.limit = awayBufferBytes
	for {
		e, err := r.live.Next(context.Background()) // Closed comes to every Live that is away
		if err != nil {
			return
		}
		switch e := e.(type) {
		case live.Closed:
			r.handOver()
			return
		case live.Released: // there is no socket to close any more
			continue
		default:
			if step := r.Event(e); step.Err != nil {
				log.Error("frame not encoded", telemetry.KeyError, step.Err)
				r.live.LeaveHandover(nil)
			}
		}
	}
}
