package realtime

import (
	"context"
	"errors"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/websocket"
)

// write is the writer's goroutine. It returns when the socket has ended and what could be written
// is written.
func (s *socket) write(ctx context.Context) {
	pings := time.NewTicker(s.limits.PingInterval)
	defer pings.Stop()
	for !s.writePending(ctx) {
		select {
		case <-s.wake:
		case <-pings.C:
			s.ping()
		}
	}
	s.receivePong() // none is awaited any more
}

// writePending takes the conversation's events and writes frames until there are none. over says
// that the socket has ended and nothing is left to write.
func (s *socket) writePending(ctx context.Context) (over bool) {
	defer s.recoverPanic()
	for {
		batch, hasCommands, over := s.nextBatch()
		if over {
			return true
		}
		if hasCommands {
			s.passCommands(ctx)
		}
		if len(batch) > 0 {
			s.endIfSlow(s.conn.Write(batch))
			s.written(len(batch))
		} else if !hasCommands {
			return false
		}
	}
}

// nextBatch takes events to the dialect and returns the frames to be written now, whether the
// events led to commands (the reader passes its own), and whether the socket is over.
func (s *socket) nextBatch() (batch [][]byte, hasCommands, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.commands)
	s.takeEvents()
	batch = s.outbox.batch()
	over = s.ended && (len(batch) == 0 || s.end.silent || s.end.discards)
	return batch, len(s.commands) > before, over
}

// takeEvents takes the conversation's events to the dialect while little waits to be written. mu is
// held.
func (s *socket) takeEvents() {
	if listener, ok := s.dialect.dialect.(dialect.PauseListener); ok && s.pause.ended && !s.ended {
		s.apply(listener.PauseEnded())
	}
	s.pause.ended = false
	for s.outbox.bytes < batchBytes && s.takeEvent() {
	}
}

// takeEvent takes one event; false: there is none, or the socket takes none now. mu is held.
func (s *socket) takeEvent() bool {
	if s.ended || s.pause.active {
		return false
	}
	e, ok := s.live.Poll()
	if !ok {
		return false
	}
	switch e := e.(type) {
	case live.Closed:
		s.conversationClosed = true
		s.finishDrained(e)
		s.dialect.handOver()
	case live.Released:
		s.finishLocked(endOfSession(live.Closed{Code: e.Code, Reason: e.Reason}))
	default:
		s.apply(s.dialect.Event(e))
	}
	return true
}

// takeEventsToClosed takes the events up to Closed even while the writer is busy with a client that
// is lost: the client's next socket waits for what this one hands over.
func (s *socket) takeEventsToClosed() {
	s.mu.Lock()
	for s.takeEvent() {
	}
	s.mu.Unlock()
	s.wakeWriter()
}

// written removes the frames of a batch that was written; until then they count as unwritten.
func (s *socket) written(count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outbox.remove(count)
	s.beginPause()
}

// endIfSlow ends the socket if a write took too long. Of any other failed write the reader learns
// the cause.
func (s *socket) endIfSlow(err error) {
	if errors.Is(err, websocket.ErrWriteTimeout) {
		end := endSlowReader
		end.silent = true // the connection is closed already
		s.finish(end)
	}
}

// ping pings the client, in the dialect's way too, and ends the socket if no pong comes in time.
// Pings keep proxies from closing quiet connections, and find lost ones.
func (s *socket) ping() {
	defer s.recoverPanic()
	s.mu.Lock()
	if pinger, ok := s.dialect.dialect.(dialect.Pinger); ok && !s.ended {
		s.apply(pinger.Ping())
	}
	if s.pongTimer == nil {
		s.pongTimer = time.AfterFunc(s.limits.PongTimeout, s.missPong)
	}
	s.mu.Unlock()
	s.endIfSlow(s.conn.Ping())
}

// missPong ends the socket, unless a message keeps the pong from coming.
func (s *socket) missPong() {
	if !s.conn.Receiving() {
		s.finish(endLost)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pongTimer != nil {
		s.pongTimer.Reset(s.limits.PongTimeout)
	}
}

// receivePong notes that no pong is awaited.
func (s *socket) receivePong() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopAwaitingPong()
}

// stopAwaitingPong is receivePong with mu held.
func (s *socket) stopAwaitingPong() {
	if s.pongTimer != nil {
		s.pongTimer.Stop()
		s.pongTimer = nil
	}
}
