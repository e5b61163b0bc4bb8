package turns

import (
	"parlance.dev/parlance/sessions"
)

// runs says that the turn runs on this node, or waits here for its lease.
func (s *Service) Runs(turn sessions.TurnID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[turn] != nil
}
