package live

import (
	"context"
	"io"
	"strings"
	"time"

	"parlance.dev/parlance/turns"
)

// maxQueuedEvents bounds the events that a socket leaves unread before it is closed: some minutes
// of text, and no more memory than a long answer needs.
const maxQueuedEvents = 8192

const (
	// deltaInterval is how long text waits, so that a socket gets several pieces as one. The first
	// piece of a message is not delayed, and the end of the message sends what still waits. Without
	// it a model that emits 200 pieces a second costs as many wake-ups, frames and writes; readers
	// see 25 pieces a second as a steady flow.
	deltaInterval = 40 * time.Millisecond
	// keptQueue is the capacity that an empty queue keeps.
	keptQueue = 16
	// maxJoinedBytes bounds a joined piece. A client that has not read for a while gets several.
	maxJoinedBytes = 16 << 10
)

// Next waits for the next event. Errors: io.EOF after Closed, ctx's.
func (l *Live) Next(ctx context.Context) (turns.Event, error) {
	for {
		l.mu.Lock()
		if len(l.queue) > 0 {
			e := l.dequeue()
			l.mu.Unlock()
			return e, nil
		}
		over := l.closed
		l.mu.Unlock()
		if over {
			return nil, io.EOF
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Poll returns the next event if there is one, without waiting. [Live.OnWake] says when to call it.
func (l *Live) Poll() (turns.Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil, false
	}
	return l.dequeue(), true
}

// Inject queues an event of the caller's, as External. It returns false after Closed.
func (l *Live) Inject(value any) bool { return l.push(External{Value: value}) }

// OnWake has f called whenever events are queued, from now on; nil stops that. f must neither wait
// nor call the Live.
func (l *Live) OnWake(f func()) {
	l.onWake.Store(&f)
	l.wakeUp()
}

// OnClosed has f called once Closed is queued, at once when it is already. f must not wait.
func (l *Live) OnClosed(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.onClosed = f; l.closed {
		f()
	}
}

// push queues an event. Nothing follows Closed. A socket that does not read its events is closed.
func (l *Live) push(e turns.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if _, last := e.(Closed); !last && len(l.queue) >= maxQueuedEvents {
		e = Closed{Code: CloseSlow, Reason: "slow_reader"}
		l.queue = nil
	}
	_, l.closed = e.(Closed)
	l.queue = append(l.queue, e)
	if l.closed && l.onClosed != nil {
		l.onClosed()
	}
	switch e.(type) {
	case turns.TextDelta, turns.MessageDone:
		l.scheduleWake()
	case turns.MessageStarted: // the message's first piece follows and wakes the socket
	default:
		if l.wakeScheduled && l.wakeTimer.Stop() {
			l.wakeScheduled = false
		}
		l.wakeUp()
	}
	return true
}

// discard drops the queue and all later events.
func (l *Live) discard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.queue = true, nil
}

// scheduleWake wakes the socket now, or when deltaInterval has passed since it was last woken for
// text. l.mu is held.
func (l *Live) scheduleWake() {
	if l.wakeScheduled {
		return
	}
	now := l.now()
	wait := deltaInterval - now.Sub(l.lastDelta)
	if wait <= 0 || wait > deltaInterval {
		l.lastDelta = now
		l.wakeUp()
		return
	}
	l.wakeScheduled = true
	if l.wakeTimer != nil {
		l.wakeTimer.Reset(wait)
		return
	}
	l.wakeTimer = time.AfterFunc(wait, func() {
		l.mu.Lock()
		l.wakeScheduled, l.lastDelta = false, l.now()
		l.mu.Unlock()
		l.wakeUp()
	})
}

// wakeUp wakes Next and calls OnWake's function.
func (l *Live) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default: // Next has been woken already
	}
	if f := l.onWake.Load(); f != nil && *f != nil {
		(*f)()
	}
}

// dequeue removes the first event of a queue that is not empty, and joins the pieces of text of one
// message. l.mu is held.
func (l *Live) dequeue() turns.Event {
	e, taken := l.queue[0], 1
	if first, is := e.(turns.TextDelta); is {
		e, taken = joinDeltas(first, l.queue)
	}
	clear(l.queue[:taken]) // so that the garbage collector frees them
	switch {
	case taken < len(l.queue):
		l.queue = l.queue[taken:]
	case cap(l.queue) <= keptQueue:
		l.queue = l.queue[:0]
	default:
		l.queue = nil
	}
	return e
}

// joinDeltas joins the pieces of first's message at the front of the queue, and returns their
// number.
func joinDeltas(first turns.TextDelta, queue []turns.Event) (joined turns.TextDelta, taken int) {
	var text strings.Builder
	for _, e := range queue {
		next, is := e.(turns.TextDelta)
		if !is || next.ItemID != first.ItemID || next.ResponseID != first.ResponseID ||
			taken > 0 && text.Len()+len(next.Text) > maxJoinedBytes {
			break
		}
		text.WriteString(next.Text)
		taken++
	}
	joined = first
	joined.Text = text.String()
	return joined, taken
}
