package realtime

import (
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
)

// endRemoteAnswer takes the end of an answer that another node gave. If the answer is followed, its
// end waits for its last frames.
func (r *resumable) endRemoteAnswer(e live.AnswerEnded) dialect.Step {
	if r.remoteEnd != nil {
		r.heldEvents = append(r.heldEvents, e)
		return dialect.Step{}
	}
	r.remoteEnd = &e
	if r.follower == nil || e.ResponseID == "" || r.finished[e.ResponseID] {
		return r.sendRemoteEnd()
	}
	joined, responseID := r.live, e.ResponseID
	time.AfterFunc(lastFramesTimeout, func() { joined.Inject(lastFramesDue{responseID: responseID}) })
	return dialect.Step{}
}

// sendRemoteEnd sends the end of another node's answer, unless its frames have sent it, and then
// the events that were held until then.
func (r *resumable) sendRemoteEnd() dialect.Step {
	e := *r.remoteEnd
	e.AlreadySent = e.AlreadySent || r.finished[e.ResponseID]
	if r.follower != nil {
		r.follower.end()
		r.follower = nil
	}
	held := r.heldEvents
	r.remoteEnd, r.heldEvents = nil, nil
	step := r.dialect.Event(e)
	r.buffer.add(step.Frames, markLast, e.ResponseID)
	for _, event := range held {
		join(&step, r.Event(event))
	}
	return step
}
