package live

import (
	"context"
	"strings"

	"parlance.dev/parlance/sessions"
)

// JoinAfter is Join with a delay: it calls meanwhile after reading the session and before joining.
func (s *Service) JoinAfter(ctx context.Context, a Admission, meanwhile func()) (*Live, error) {
	e, err := s.engineFor(a.Session)
	if err != nil {
		return nil, err
	}
	arrived, err := s.arrive(ctx, a, e)
	meanwhile()
	e.inbox.call(func() { e.join(arrived) })
	return arrived.live, err
}

// Lives reports whether a session is live on this node.
func (s *Service) Lives(id sessions.ID) bool { return s.engineOf(id) != nil }

// StatementsOfSockets are the statements that name sessions by their id.
var StatementsOfSockets = map[string]string{
	"Refresh": strings.NewReplacer("?0", "$1", "?1", "$2", "?2", "$3", "?3", "$4").Replace(refreshSQL),
}
