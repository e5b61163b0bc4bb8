package conversation

import "context"

// Admission is a socket that may join; made by Admit, used once.
type Admission struct {
	// Session as it was when the socket was admitted.
	Session Session
	Channel LiveChannel
}

// Live is one socket's end of a conversation. Do, Next and Leave may be called from different
// goroutines; Next from one at a time.
type Live struct{}

// Session is the session as it was when the socket joined, its Config what is in force.
func (l *Live) Session() Session { panic("not yet") }

// Resumed says that the session was in progress already: the greeting is not repeated.
func (l *Live) Resumed() bool { panic("not yet") }

// History is the items of the session's turns when the socket joined, oldest first; empty
// unless Resumed.
func (l *Live) History() []Item { panic("not yet") }

// Do hands a command to the conversation. It waits only while the conversation is busy taking
// others; what comes of the command arrives as events.
// Errors: Precondition session-closed after Closed; ctx's.
func (l *Live) Do(ctx context.Context, c Command) error { panic("not yet") }

// Next waits for the next event. Errors: io.EOF after Closed, ctx's.
func (l *Live) Next(ctx context.Context) (Event, error) { panic("not yet") }

// Leave says that the socket is gone. It is the last call; the second and later do nothing, and
// so does one after Closed.
func (l *Live) Leave(how Leaving) { panic("not yet") }

// Admit checks a socket before the HTTP upgrade; it changes nothing.
// Errors: Unauthenticated session-token-invalid, Precondition session-closed, Forbidden session-modality.
func (s *Service) Admit(ctx context.Context, p AdmitParams) (Admission, error) { panic("not yet") }

// Join puts an upgraded socket on its conversation: pending becomes in_progress (with the
// greeting), and an older socket of the channel on any node gets Closed replaced.
// Errors: Precondition session-closed, Unavailable unavailable.
func (s *Service) Join(ctx context.Context, a Admission) (*Live, error) { panic("not yet") }

// Service is sessions and their turns. Safe for concurrent use.
type Service struct{}
