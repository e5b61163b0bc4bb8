package conversation

import "context"

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
