package conversation

import (
	"strings"
	"time"
)

// gatherFor is how long pieces of text wait for each other on their way to a socket, which gets them as one. The first
// piece of a message does not wait, and what lies behind the last one takes it along. A model that says 200 a second
// would otherwise cost as many wake-ups, frames and writes; people read 25 lumps a second as a flow.
const gatherFor = 40 * time.Millisecond

// gather wakes the socket now, or when gatherFor is over since it was last woken for pieces; mu is held.
func (l *Live) gather() {
	if l.gathers {
		return
	}
	now := l.engine.s.now()
	wait := gatherFor - now.Sub(l.pieces)
	if wait <= 0 || wait > gatherFor {
		l.pieces = now
		l.wakeUp()
		return
	}
	l.gathers = true
	if l.gathering != nil {
		l.gathering.Reset(wait)
		return
	}
	l.gathering = time.AfterFunc(wait, func() {
		l.mu.Lock()
		l.gathers, l.pieces = false, l.engine.s.now()
		l.mu.Unlock()
		l.wakeUp()
	})
}

// hush says whether what is queued waits for an event that is about to come, and is taken with it.
func (l *Live) hush(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hushed = on
}

// shift takes the first event; pieces of one message that stand together are one. mu is held, and there is one.
func (l *Live) shift() Event {
	e, taken := l.queue[0], 1
	if first, is := e.(TextDelta); is {
		if taken = first.run(l.queue); taken > 1 {
			e = first.joined(l.queue[1:taken])
		}
	}
	clear(l.queue[:taken]) // let them go
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

// keptQueue is how many events an empty queue keeps room for: during an answer there is a next one soon.
const keptQueue = 16

// maxJoined bounds what becomes one piece: a client that did not read for a while gets some.
const maxJoined = 16 << 10

// run is how many events at the beginning of a queue are pieces of d's message, which is first.
func (d TextDelta) run(queue []Event) int {
	size := 0
	for i, e := range queue {
		next, is := e.(TextDelta)
		if !is || next.ItemID != d.ItemID || next.ResponseID != d.ResponseID || i > 0 && size+len(next.Text) > maxJoined {
			return i
		}
		size += len(next.Text)
	}
	return len(queue)
}

// joined is d with the pieces behind it.
func (d TextDelta) joined(behind []Event) TextDelta {
	var text strings.Builder
	text.WriteString(d.Text)
	for _, e := range behind {
		text.WriteString(e.(TextDelta).Text) //nolint:errcheck,forcetypeassert // see run
	}
	d.Text = text.String()
	return d
}
