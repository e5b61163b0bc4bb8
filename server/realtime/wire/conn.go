package wire

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Limits bound a connection. All must be set.
type Limits struct {
	// MaxMessageBytes is the most a message may have.
	MaxMessageBytes int
	// ReadWithin is how long a message may take from its first byte to its last.
	ReadWithin time.Duration
	// WriteWithin is how long one call of Write or Close may take.
	WriteWithin time.Duration
}

// Conn is one connection. Read is for one goroutine at a time; the other methods are for any.
type Conn struct {
	conn     net.Conn
	limits   Limits
	protocol string
	// Meter, when set before the first Read, is asked about each frame.
	Meter Meter
	// Pong, when set before the first Read, hears of pongs.
	Pong func()

	// buffer has what was read and not taken yet; it is Read's own, like deadline.
	buffer []byte
	// begun says that a message has, deadline that its time runs, answered that the client's close frame
	// has come.
	begun, deadline, answered bool

	writing sync.Mutex
	// closing says that a close frame is out: nothing may follow it. Guarded by writing.
	closing bool
	// stall closes the connection when a write takes too long; guarded by writing.
	stall stall
}

// Protocol is the sub-protocol that was chosen; empty: none.
func (c *Conn) Protocol() string { return c.protocol }

// Verdict is what a [Meter] says of a frame.
type Verdict uint8

// The verdicts.
const (
	// Allowed: the frame is taken.
	Allowed Verdict = iota
	// Refused: too much came; the message comes from Read with Refused set, a ping is not answered.
	Refused
	// Flooded: far too much came; Read returns ErrFlood.
	Flooded
)

// Meter counts what a client sends, frames of all kinds, with so many bytes of payload.
type Meter interface{ Take(bytes int) Verdict }

// Message is what a client sent.
type Message struct {
	Data []byte
	// Text says that it was a text message, of valid UTF-8.
	Text bool
	// Refused says that the Meter did not want it; Data is as it came.
	Refused bool
}

// Errors of Read.
var (
	// ErrFlood: the Meter has had enough.
	ErrFlood = errors.New("the client sends too much")
	// ErrTooLarge: a message is over MaxMessageBytes.
	ErrTooLarge = errors.New("the message is too large")
	// ErrStalled: a message took longer than ReadWithin.
	ErrStalled = errors.New("the client does not finish its message")
	// ErrText: a text message is not UTF-8.
	ErrText = errors.New("the text is not UTF-8")
	// ErrProtocol: the client does not keep to RFC 6455.
	ErrProtocol = errors.New("not a frame of RFC 6455")
)

// CloseError is the client's close frame. Code is 1005 when it had none.
type CloseError struct {
	Code   int
	Reason string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("closed by the client: %d %q", e.Code, e.Reason)
}
