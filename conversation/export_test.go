package conversation

import (
	"context"
	"strings"
)

// JoinAfter is Join by a socket that is overtaken: meanwhile happens between what it reads and its place in the
// conversation.
func (s *Service) JoinAfter(ctx context.Context, a Admission, meanwhile func()) (*Live, error) {
	e, err := s.engineFor(a.Session)
	if err != nil {
		return nil, err
	}
	arrival, err := s.arrive(ctx, a, e)
	meanwhile()
	arrival.noted = make(chan struct{})
	if e.send(arrival) {
		<-arrival.noted
	}
	return arrival.live, err
}

// StatementsOfSockets name sessions by their id, and are made for each turn or socket.
var StatementsOfSockets = map[string]string{
	"Accept": acceptNew, "Ask": askOpen, "Begin": beginOpen, "Finish": finishOpen,
	"Refresh": strings.NewReplacer("?0", "$1", "?1", "$2", "?2", "$3", "?3", "$4").Replace(refreshSQL),
}

// Away says that Postgres did not answer when it was asked last.
func (s *Service) Away() bool { return s.health.Failing() }

// Adrift says that the node goes on without Postgres.
func (s *Service) Adrift() bool { return s.spill.isAway() }

// Calm says that Postgres has answered long enough for silence to be taken for what it looks like.
func (s *Service) Calm() bool { return s.health.Steady() }

// Disturb has Postgres be back since now.
func (s *Service) Disturb() { s.health.Disturb() }

// Queued is how many turns without a socket run or wait for a session on this node.
func (s *Service) Queued(id ID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues.sessions[id]; q != nil {
		return q.turns
	}
	return 0
}

// Summarising says that a summary of the session is being written on this node, or failed within the minute.
func (s *Service) Summarising(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.summaries[id]
	return is
}

// Lives says whether a session is live on this node.
func (s *Service) Lives(id ID) bool { return s.engineOf(id) != nil }
