package turns

import (
	"encoding/json"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// Start says which turn is to be run.
type Start struct {
	// Session is the session as its node last saw it.
	Session sessions.Session
	// Turn is the id of the turn: a new one's, or the unanswered one's when Open is set.
	Turn sessions.TurnID
	// Open says that the turn was accepted before.
	Open bool
	// Said is what the user said in a new turn; none asks the agent to go on.
	Said []sessions.Message
	// Accepted, when set, is called once, from the runner's goroutine: with the turn as soon as what
	// the user said is stored, or with the error that prevented it.
	Accepted func(turn sessions.Turn, err error)
	// Response is the answer's id when a socket asks for it.
	Response string
	// Asked is when the answer was asked for; zero: now.
	Asked time.Time
	// Cache is what the node knows of the session; nil for a turn without a socket.
	Cache *SessionCache

	// Outputs are a client's results of calls, which a new turn begins with. Answered, when set, gets
	// those calls.
	Outputs  []sessions.Message
	Answered *[]tools.ClientCall
	// ClientTools are the caller's own tools of a new turn, see EncodeClientTools.
	ClientTools json.RawMessage
	// Resume says that the turn's node was lost, and that the turn is taken from there.
	Resume bool
	// Stores says that nobody asked for an answer to an accepted turn: it is only stored, for the
	// person who has the session. When nobody has it the turn stays open, and the error is
	// ErrNoOperator.
	Stores bool
}

// tellAccepted calls Accepted, the first time only.
func (start *Start) tellAccepted(turn sessions.Turn, err error) {
	if start.Accepted != nil {
		start.Accepted(turn, err)
		start.Accepted = nil
	}
}
