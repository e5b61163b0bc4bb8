package live

import (
	"context"
	"strings"

	"parlance.dev/parlance/sessions"
)

// JoinAfter is Join by a socket that is overtaken: meanwhile happens between what it reads and its
// place in the conversation.
func (s *Service) JoinAfter(ctx context.Context, a Admission, meanwhile func()) (*Live, error) {
	e, err := s.engineFor(a.Session)
	if err != nil {
		return nil, err
	}
	arrival, err := s.arrive(ctx, a, e)
	meanwhile()
	arrival.processed = make(chan struct{})
	if e.inbox.send(arrival) {
		<-arrival.processed
	}
	return arrival.live, err
}

// Lives reports whether a session is live on this node.
func (s *Service) Lives(id sessions.ID) bool { return s.engineOf(id) != nil }

// statementsOfSockets name sessions by their id, and are made for each socket.
var StatementsOfSockets = map[string]string{
	"Refresh": strings.NewReplacer("?0", "$1", "?1", "$2", "?2", "$3", "?3", "$4").Replace(refreshSQL),
}
