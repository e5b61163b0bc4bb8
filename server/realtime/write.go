package realtime

import (
	"context"
	"errors"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/wire"
)

// The writer of a socket is a piece of work of the crew's, which ends when there is nothing to write:
//
//	          wake                 wake
//	resting ────────► writing ◄────────────► called
//	   ▲                 │    looks once more
//	   └─────────────────┤
//	    nothing to write │ the socket has ended, and what could be written is
//	                     ▼
//	                    gone
const (
	writerResting int32 = iota
	writerWriting
	writerCalled
	writerGone
)

// wake has the writer look whether there is something to do. It does not wait.
func (s *socket) wake() {
	for {
		switch s.writer.Load() {
		case writerResting:
			if s.writer.CompareAndSwap(writerResting, writerWriting) {
				s.crew.Go(s.writes)
				return
			}
		case writerWriting:
			if s.writer.CompareAndSwap(writerWriting, writerCalled) {
				return
			}
		default: // it looks once more, or is gone
			return
		}
	}
}

// write takes the core's events and writes frames until there are none; true: the socket has ended, and what could be
// written is.
func (s *socket) write(ctx context.Context) (over bool) {
	for {
		if s.writeWhatIs(ctx) {
			s.writer.Store(writerGone)
			return true
		}
		if s.writer.CompareAndSwap(writerWriting, writerResting) {
			return false
		}
		s.writer.Store(writerWriting)
	}
}

func (s *socket) writeWhatIs(ctx context.Context) (over bool) {
	defer s.guard()
	var batch [][]byte
	for {
		commands := false
		batch, over, commands = s.collect(batch[:0])
		switch {
		case over:
			return true
		case commands:
			s.pass(ctx) // the reader passes its own
		}
		if s.pingDue.CompareAndSwap(true, false) {
			s.pingSent.Store(time.Now().UnixNano())
			s.failed(s.conn.Ping())
		}
		if len(batch) == 0 && !commands {
			return false
		}
		s.failed(s.conn.Write(batch))
		s.written(batch)
		clear(batch)
	}
}

// collect takes events to the dialect and appends what is to be written to a batch. It says whether the socket is over,
// and whether there are commands of the dialect's.
func (s *socket) collect(batch [][]byte) (_ [][]byte, over, commands bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.waiting)
	s.hear()
	batch = s.next(batch)
	return batch, s.ended && (len(batch) == 0 || s.end.silent || s.end.hurried), len(s.waiting) > before
}

// hear takes the core's events to the dialect, as long as not much is unwritten. mu is held.
func (s *socket) hear() {
	if waker, ok := s.dialect.dialect.(dialect.Waker); ok && s.woken && !s.ended {
		s.take(waker.Wake())
	}
	s.woken = false
	for s.unwrittenBytes < batchBytes && s.hearOne() {
	}
}

// hearOne takes one; false: there is none to take. mu is held.
func (s *socket) hearOne() bool {
	if s.ended || s.paused {
		return false
	}
	e, ok := s.live.Poll()
	if !ok {
		return false
	}
	switch e := e.(type) {
	case live.Closed:
		s.over = true
		s.finishLocked(endOfSession(e))
		s.dialect.bequeath()
	case live.Released:
		s.finishLocked(endOfSession(live.Closed{Code: e.Code, Reason: e.Reason}))
	default:
		s.take(s.dialect.Event(e))
	}
	return true
}

// hearClosed takes what there is up to Closed although the writer may be busy with a client that is lost:
// the client's next socket waits for what this one leaves.
func (s *socket) hearClosed() {
	s.mu.Lock()
	for s.hearOne() {
	}
	s.mu.Unlock()
	s.wake()
}

// next appends the frames that are to be written now to a batch. mu is held.
func (s *socket) next(batch [][]byte) [][]byte {
	bytes := 0
	for _, one := range s.unwritten {
		if bytes += len(one.Data); len(batch) > 0 && bytes > batchBytes {
			break
		}
		batch = append(batch, one.Data)
	}
	return batch
}

// written lets a batch go. What is written counts as unwritten until then.
func (s *socket) written(batch [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, data := range batch {
		s.unwrittenBytes -= len(data)
	}
	clear(s.unwritten[:len(batch)])
	switch {
	case len(batch) < len(s.unwritten):
		s.unwritten = s.unwritten[len(batch):]
	case cap(s.unwritten) <= keptFrames:
		s.unwritten = s.unwritten[:0]
	default:
		s.unwritten = nil
	}
	s.beginPause()
}

// keptFrames is how many frames a socket keeps room for when all is written: during an answer there is a next one soon.
const keptFrames = 4

// failed ends the socket when a write failed; the reader tells what else there is to tell.
func (s *socket) failed(err error) {
	if errors.Is(err, wire.ErrSlow) {
		end := endSlow
		end.silent = true // the connection is closed already
		s.finish(end)
	}
}
