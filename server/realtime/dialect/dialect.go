package dialect

import (
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// Params is what a dialect starts with.
type Params struct {
	// Session is the session as it was when the socket joined.
	Session sessions.Session
	Channel sessions.Channel
	// History is the items of the conversation so far; empty for a new one.
	History []sessions.Item
	// Speaks says that answers can be spoken on this socket.
	Speaks bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Dialect is a protocol as one socket speaks it. Its methods are never called at the same time.
type Dialect interface {
	// Open is what the client is sent first. It is called once, before the other methods.
	Open() Step
	// Frame takes a text frame of the client.
	Frame(data []byte) Step
	// BinaryFrame takes a binary frame, which no protocol has.
	BinaryFrame() Step
	// Event takes an event of the conversation, but never Closed.
	Event(e turns.Event) Step
	// Close is what the protocol sends before a close frame with this code and reason. Only the
	// frames of the Step are used.
	Close(code int, reason string) Step
}

// Resumer is a dialect whose clients can resume after a lost connection. Clients of another dialect
// find the conversation when they connect again, and an open answer once it has ended.
type Resumer interface {
	// Reopen is Open for the next socket of the same client on this node. history is the items so
	// far. The client's settings stay in force, and an open answer goes on.
	Reopen(history []sessions.Item) Step
	// Missed is the items behind the event with this id, whole, for when the frames are not kept
	// any more.
	Missed(lastEventID string) Step
}

// Pinger is a dialect with pings of its own beside the WebSocket's.
type Pinger interface {
	// Ping is called as often as the WebSocket is pinged.
	Ping() Step
}

// Drainer is a dialect whose client says what it has played.
type Drainer interface {
	// Drained reports whether the client has played all the sound that it was sent. When the
	// conversation ends, the socket waits for that.
	Drained() bool
}

// PauseListener is a dialect that wants to know when a pause it asked for is over.
type PauseListener interface {
	// PauseEnded is called at the end of each Step.Pause.
	PauseEnded() Step
}

// HandoverStatus is the status of a handover as clients are told it: requested, operator, or
// released when nobody has the conversation any more.
func HandoverStatus(e live.HandoverChanged) string {
	if e.Status == sessions.NoHandover {
		return "released"
	}
	return string(e.Status)
}

// Frame is one text frame for the client.
type Frame struct {
	// ID is the event's id in its protocol, which clients send back as last_event_id. Events
	// without an id are not sent again.
	ID   string
	Data []byte
}

// Step is the result of a call of a dialect. The lists are in order.
type Step struct {
	// Frames go to the client.
	Frames []Frame
	// Commands go to the conversation.
	Commands []live.Command
	// Pause is how long the conversation's events wait behind this step. The client's frames are
	// read meanwhile. It replaces an earlier pause. 0: no pause.
	Pause time.Duration
	// FramesBeforePause, unless 0, has only that many of Frames go out now. The pause begins when
	// they are written, and all other frames, also of later steps, go out when it is over.
	FramesBeforePause int
	// HungUp says that the client has hung up in the protocol's own way: the socket ends.
	HungUp bool
	// Transfer says that the caller has heard what was said before they are connected with a person.
	Transfer bool
	// Err is a frame that could not be encoded: a mistake of ours that ends the socket.
	Err error
}

// Builder builds the Step of the call that a dialect handles.
type Builder struct{ Step }

// Command adds a command.
func (b *Builder) Command(c live.Command) { b.Commands = append(b.Commands, c) }

// Send adds a frame with an event as JSON; id is Frame.ID.
func (b *Builder) Send(id string, event any) {
	data, err := Encode(event)
	if err != nil {
		b.Err = err
		return
	}
	b.Frames = append(b.Frames, Frame{ID: id, Data: data})
}

// Take returns the step and begins a new one.
func (b *Builder) Take() Step {
	step := b.Step
	b.Step = Step{}
	return step
}
