package recordings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"parlance.dev/parlance/platform/telemetry"
)

const (
	// maxUnwrittenBlocks is how much sound waits for the bucket before the recording stops: two
	// minutes.
	maxUnwrittenBlocks = 120
	// maxMarks bounds the marks that wait; the words of two minutes are a tenth of it.
	maxMarks = 5000
)

// ErrLost says that a part of the recording could not be stored.
var ErrLost = errors.New("the end of the recording could not be stored")

// Recorder takes the sound of one voice socket. Its methods only work in memory, but for Close, and
// do nothing on a nil Recorder. It is safe for concurrent use.
type Recorder struct {
	part   Part
	log    *slog.Logger
	cancel context.CancelFunc
	// woken has a value when there is something for the writer, done is closed when it has returned.
	woken chan struct{}
	done  chan struct{}

	mu       sync.Mutex
	timeline timeline
	marks    []Mark
	// queue are the segments that are to be stored, the first one perhaps just now.
	queue []segment
	// stopped says that sound was left out because the bucket is slow, gone that the recording was
	// erased meanwhile, closing that no more sound comes.
	stopped, gone, closing bool
}

// User adds sound of the user, 16 kHz mono, which began at a time of the socket. The clock of the
// recording goes by it: what the agent said is settled five seconds later.
func (r *Recorder) User(fromMS int, samples []int16) { r.add(User, fromMS, samples) }

// Agent adds sound of the agent, 16 kHz mono, which is played from a time of the socket on: at most
// 60 seconds ahead. Where there is none, the agent is silent.
func (r *Recorder) Agent(fromMS int, samples []int16) { r.add(Agent, fromMS, samples) }

func (r *Recorder) add(channel Channel, fromMS int, samples []int16) {
	if r == nil || len(samples) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver() {
		return
	}
	r.timeline.place(channel, fromMS, samples)
	r.enqueue(r.timeline.take())
	if r.unwrittenBlocks() < maxUnwrittenBlocks {
		return
	}
	r.stopped = true
	r.enqueue(r.timeline.takeAll())
	r.log.Error("recording stopped: two minutes of it could not be stored", "from_ms", fromMS)
}

// isOver reports whether no more sound is taken.
func (r *Recorder) isOver() bool { return r.stopped || r.gone || r.closing }

// unwrittenBlocks counts the blocks with sound that wait.
func (r *Recorder) unwrittenBlocks() int {
	count := 0
	for _, s := range r.queue {
		count += countSound(s.blocks)
	}
	return count
}

// enqueue hands segments to the writer, with the marks of their time and of earlier ones.
func (r *Recorder) enqueue(segments []segment) {
	end := r.timeline.start
	for i := len(segments) - 1; i >= 0; i-- { // the window begins behind the last one
		segments[i].marks = r.takeMarks(end-segments[i].frames, i == 0)
		end -= segments[i].frames
	}
	if len(segments) > 0 {
		r.queue = append(r.queue, segments...)
		r.wake()
	}
}

// takeMarks removes the marks that begin between a frame and the window; when all is true, also
// those that begin before the frame.
func (r *Recorder) takeMarks(fromFrame int, all bool) (taken []Mark) {
	var rest []Mark
	for _, m := range r.marks {
		at := m.FromMS * framesPerMS
		if (all || at >= fromFrame) && at < r.timeline.start {
			taken = append(taken, m)
		} else {
			rest = append(rest, m)
		}
	}
	r.marks = rest
	return taken
}

// CutAgent drops what the agent was to say from a time on, because it was not played. Marks of it
// are dropped or shortened. What was said more than five seconds ago may be stored already, and
// stays.
func (r *Recorder) CutAgent(fromMS int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver() {
		return
	}
	r.timeline.cut(max(0, fromMS))
	kept := r.marks[:0]
	for _, m := range r.marks {
		if m.Channel == Agent && m.FromMS >= fromMS {
			continue
		}
		if m.Channel == Agent {
			m.ToMS = min(m.ToMS, fromMS)
		}
		kept = append(kept, m)
	}
	r.marks = kept
}

// Mark adds when a word or sentence is heard, in audio time of the socket. It may come later than
// its sound.
func (r *Recorder) Mark(m Mark) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isOver() && len(r.marks) < maxMarks {
		r.marks = append(r.marks, m)
	}
}

// Close stores what is left and notes the end of the part. It waits until that is done, or ctx
// ends. Closing again waits for the same. Errors: ErrLost when something could not be stored,
// unless the recording was erased meanwhile.
func (r *Recorder) Close(ctx context.Context) error {
	if r == nil {
		return nil
	}
	r.finish()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.cancel()
		<-r.done
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped || len(r.queue) > 0 {
		return fmt.Errorf("recording of session %s: %w", r.part.SessionID, ErrLost)
	}
	return nil
}

// finish hands everything to the writer.
func (r *Recorder) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isOver() {
		segments := r.timeline.takeAll()
		if len(segments) == 0 && len(r.marks) > 0 {
			segments = []segment{{}} // carries them
		}
		r.enqueue(segments)
		if len(segments) > 0 {
			last := &r.queue[len(r.queue)-1]
			last.marks, r.marks = append(last.marks, r.marks...), nil
		}
	}
	r.closing = true
	r.wake()
}

// wake tells the writer that there is something to do.
func (r *Recorder) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// next returns the segment to store; ok is false when there is none now, and last true when there
// will be none any more.
func (r *Recorder) next() (s segment, ok, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) > 0 {
		return r.queue[0], true, false
	}
	return segment{}, false, r.closing
}

// stored removes the segment that next returned.
func (r *Recorder) stored() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue[0] = segment{} // gives the memory back
	r.queue = r.queue[1:]
}

// abandon drops everything, because there is nothing to record for any more.
func (r *Recorder) abandon(because error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone, r.queue, r.timeline, r.marks = true, nil, timeline{}, nil
	r.log.Info("recording dropped", telemetry.KeyError, because)
}

// isIncomplete reports whether sound was left out, or waits.
func (r *Recorder) isIncomplete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped || len(r.queue) > 0
}
