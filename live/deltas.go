package live

import (
	"strings"
	"time"

	"parlance.dev/parlance/turns"
)

const (
	// deltaInterval is how long pieces of text wait for each other on their way to a socket, which
	// gets them as one. The first piece of a message does not wait, and its end takes along what
	// still waits. A model that says 200 pieces a second would otherwise cost as many wake-ups,
	// frames and writes; people read 25 pieces a second as a flow.
	deltaInterval = 40 * time.Millisecond
	// keptQueue is how many events an empty queue keeps room for.
	keptQueue = 16
	// maxJoinedBytes bounds a piece that is made of several: a client that did not read for a while
	// gets some.
	maxJoinedBytes = 16 << 10
)

// scheduleWake wakes the socket now, or when deltaInterval is over since it was last woken for
// pieces of text. l.mu is held.
func (l *Live) scheduleWake() {
	if l.wakeScheduled {
		return
	}
	now := l.engine.s.now()
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
		l.wakeScheduled, l.lastDelta = false, l.engine.s.now()
		l.mu.Unlock()
		l.wakeUp()
	})
}

// shift takes the first event of the queue, which has one. Pieces of one message that stand
// together become one. l.mu is held.
func (l *Live) shift() turns.Event {
	e, taken := l.queue[0], 1
	if first, is := e.(turns.TextDelta); is {
		e, taken = joinDeltas(first, l.queue)
	}
	clear(l.queue[:taken]) // the events can be collected
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

// joinDeltas joins the pieces of first's message at the beginning of the queue, and returns how
// many they were.
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
