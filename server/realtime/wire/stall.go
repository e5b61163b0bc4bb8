package wire

import (
	"sync/atomic"
	"time"
)

// stall closes a connection whose write takes too long. An answer is hundreds of writes, so a write sets no timer
// where one runs: it says when it has to be over, and the timer, when it fires, looks at that and sets itself anew.
// Nothing of it may be called twice at a time but fire.
type stall struct {
	close   func() error
	timer   *time.Timer // nil until the first write
	started time.Time
	// until is when the write that goes on has to be over, in nanoseconds after started; or one of those below.
	until atomic.Int64
}

// What else until says.
const (
	asleep   = 0  // nothing is written, and the timer does not run
	awake    = -1 // nothing is written, and it does
	tooLate  = -2 // the connection was closed
	nowAtAll = 1  // the least of all times
)

// begin says that a write begins. All of them have the same time.
func (s *stall) begin(within time.Duration) {
	if s.timer == nil {
		s.started = time.Now()
		s.until.Store(int64(within))
		s.timer = time.AfterFunc(within, s.fire)
		return
	}
	if s.until.Swap(s.now()+int64(within)) == asleep {
		s.timer.Reset(within)
	}
}

// end says that it is over; false: it was too late.
func (s *stall) end() bool {
	for {
		until := s.until.Load()
		if until == tooLate {
			return false
		}
		if s.until.CompareAndSwap(until, awake) {
			return true
		}
	}
}

// last closes the connection after a while. No write begins any more.
func (s *stall) last(within time.Duration) {
	if s.timer != nil {
		s.until.Store(s.now() + int64(within))
		s.timer.Reset(within) // it may be set for longer
	}
}

// stop is for a connection that is closed.
func (s *stall) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (s *stall) now() int64 { return max(nowAtAll, int64(time.Since(s.started))) }

// fire is the timer's.
func (s *stall) fire() {
	for {
		switch until := s.until.Load(); until {
		case asleep, tooLate:
			return
		case awake:
			if s.until.CompareAndSwap(awake, asleep) {
				return
			}
		default:
			left := until - s.now()
			if left <= 0 {
				if s.until.CompareAndSwap(until, tooLate) {
					_ = s.close() // the write tells
					return
				}
				continue
			}
			s.timer.Reset(time.Duration(left))
			if s.until.Load() == until {
				return
			} // what came meanwhile may want it sooner
		}
	}
}
