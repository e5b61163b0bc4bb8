package realtime

import (
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
)

// finishDrained ends the socket of a conversation that is closed, once the client has played what
// was said. mu is held.
func (s *socket) finishDrained(e live.Closed) {
	end := endOfSession(e)
	if !e.Ended || s.isDrained() {
		s.finishLocked(end)
		return
	}
	s.drained = &end
	time.AfterFunc(s.limits.DrainTimeout, func() { s.finish(end) })
}

// endIfDrained ends a socket that waits for its client to play what was said. mu is held.
func (s *socket) endIfDrained() {
	if s.drained != nil && s.isDrained() {
		s.finishLocked(*s.drained)
	}
}

// isDrained reports whether the client has played what it was sent, as far as it says so.
func (s *socket) isDrained() bool {
	drainer, says := s.dialect.dialect.(dialect.Drainer)
	return !says || drainer.Drained()
}
