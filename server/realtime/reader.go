package realtime

import (
	"context"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/websocket"
)

// read takes the client's frames until the connection ends. It reads no frame while it passes the
// commands of the one before, so a client cannot make commands pile up.
func (s *socket) read(ctx context.Context) {
	defer s.recoverPanic()
	for {
		message, err := s.conn.Read()
		if err != nil {
			s.finish(endOfRead(err))
			return
		}
		if s.takeMessage(message) {
			s.wakeWriter()
		}
		if s.mayBecomeAsk() && s.conn.NextIsBuffered() {
			continue
		}
		s.passCommands(ctx)
	}
}

// mayBecomeAsk reports whether a message waits alone for the Respond that clients often send with
// it; see nextCommand.
func (s *socket) mayBecomeAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.commands) != 1 {
		return false
	}
	_, ok := s.commands[0].(live.UserMessage)
	return ok
}

// takeMessage takes a client's message to the dialect, and reports whether there is something to
// write.
func (s *socket) takeMessage(m websocket.Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wire.isCall { // carriers may not answer pings, and send sound all the time
		s.stopAwaitingPong()
	}
	switch {
	case s.ended: // only the close frame is awaited
	case m.Refused:
		s.refuse()
	case m.Text:
		s.apply(s.dialect.Frame(m.Data))
		s.endIfDrained()
	default:
		s.apply(s.dialect.BinaryFrame())
	}
	return s.ended || len(s.outbox.ready) > 0
}

// refuse sends the client the error that it sends too much, once a second. mu is held.
func (s *socket) refuse() {
	now := s.now()
	if now.Sub(s.refusedAt) < time.Second {
		return
	}
	s.refusedAt = now
	s.apply(s.dialect.Event(live.Failed{Err: fault.New(fault.RateLimitedReason,
		"Too much came at once, and some of it was left out. A socket takes %.0f frames and %.0f KiB a"+
			" second in the long run; it is closed when this goes on.",
		s.limits.Rates.FramesPerSecond, s.limits.Rates.BytesPerSecond/1024)}))
}
