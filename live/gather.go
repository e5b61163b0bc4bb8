package live

import (
	"time"

	"parlance.dev/parlance/turns"
)

// gather wakes the socket now, or when gatherFor is over since it was last woken for pieces; mu is
// held.
func (l *Live) gather() {
	if l.gathers {
		return
	}
	now := l.engine.s.now()
	wait := turns.GatherFor - now.Sub(l.pieces)
	if wait <= 0 || wait > turns.GatherFor {
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

// shift takes the first event; pieces of one message that stand together are one. mu is held, and
// there is one.
func (l *Live) shift() turns.Event {
	e, taken := l.queue[0], 1
	if first, is := e.(turns.TextDelta); is {
		if taken = first.Run(l.queue); taken > 1 {
			e = first.Joined(l.queue[1:taken])
		}
	}
	clear(l.queue[:taken]) // let them go
	switch {
	case taken < len(l.queue):
		l.queue = l.queue[taken:]
	case cap(l.queue) <= turns.KeptQueue:
		l.queue = l.queue[:0]
	default:
		l.queue = nil
	}
	return e
}
