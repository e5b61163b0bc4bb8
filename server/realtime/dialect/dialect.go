package dialect

import (
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// Params is what a dialect starts with.
type Params struct {
	// Session is the session as the socket joined it.
	Session sessions.Session
	Channel sessions.LiveChannel
	// History is the items so far; empty for a new conversation.
	History []sessions.Item
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Dialect is one socket's side of a protocol. Its methods are called from one goroutine.
type Dialect interface {
	// Open is what goes out before anything else; called once, first.
	Open() Step
	// Frame takes a client's frame; text says whether it was one of text.
	Frame(data []byte, text bool) Step
	// Event takes an event of the core; never Closed.
	Event(e turns.Event) Step
	// Close is what the protocol says before a close frame with this code and reason. Only the
	// frames of its Step are heard.
	Close(code int, reason string) Step
}

// Returner is a dialect whose clients can come back. Without it they find the conversation, and an
// answer that is going out only when it ends.
type Returner interface {
	// Again is Open for another socket of the same client on this node; history is the items so far.
	// What the client had set stays in force, and an open answer goes on.
	Again(history []sessions.Item) Step
	// Missed is what lies behind the event with this id as far as the items tell: for when the
	// frames themselves are gone.
	Missed(lastEventID string) Step
}

// Pinger is a dialect with pings of its own beside the WebSocket's.
type Pinger interface {
	// Ping is called as often as the WebSocket is pinged.
	Ping() Step
}

// Waker is a dialect that goes on by itself when a pause it asked for is over.
type Waker interface {
	// Wake is called at the end of each Step.Pause.
	Wake() Step
}

// Frame is one text frame for the client.
type Frame struct {
	// ID is the id that the event has in its protocol, which clients give back in last_event_id;
	// empty for events without one, which are not sent again.
	ID   string
	Data []byte
}

// Step is what came of a frame or an event, each list in order.
type Step struct {
	// Frames go to the client.
	Frames []Frame
	// Commands go to the core.
	Commands []live.Command
	// Pause is how long the core's events are left waiting behind this step; frames of the client
	// are read meanwhile. It takes the place of a pause before it. 0: not at all.
	Pause time.Duration
	// Alone is how many of Frames the client is to have by themselves: nothing goes out behind them, of this
	// step or of another, before the pause is over, which begins when they are written. 0: none.
	Alone int
	// Err is a frame that could not be encoded: a mistake of ours, the socket cannot go on.
	Err error
}
