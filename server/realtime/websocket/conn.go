package websocket

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound a connection. All must be set.
type Limits struct {
	// MaxMessageBytes is the largest message that Read returns.
	MaxMessageBytes int
	// ReadTimeout is how long a message may take from its first byte to its last.
	ReadTimeout time.Duration
	// WriteTimeout is how long one call of Write, Ping or Close may take.
	WriteTimeout time.Duration
}

// Conn is one connection. Read is for one goroutine at a time; the other methods are for any.
type Conn struct {
	// Rate, when set before the first Read, is called for each frame with its payload's size.
	Rate func(payloadBytes int) Verdict
	// OnPong, when set before the first Read, is called for each pong, by Read.
	OnPong func()

	conn     net.Conn
	reader   *bufio.Reader
	limits   Limits
	protocol string
	// closeReceived is set when the client's close frame was read. Only the reading goroutine uses
	// it.
	closeReceived bool
	receiving     atomic.Bool

	// writing guards what follows.
	writing sync.Mutex
	writer  *bufio.Writer
	// closeSent is set when a close frame was written, behind which nothing may follow.
	closeSent bool
	// closeTimer closes the connection if the client does not answer the close frame.
	closeTimer *time.Timer
}

// Receiving reports whether a message has begun to arrive and is not whole. No pong can come then;
// Limits.ReadTimeout bounds how long that lasts.
func (c *Conn) Receiving() bool { return c.receiving.Load() }

// Protocol is the sub-protocol that was chosen, or empty.
func (c *Conn) Protocol() string { return c.protocol }

// Verdict is the decision of a rate limit on a frame.
type Verdict uint8

// The verdicts.
const (
	// Allowed: the frame is within the limit.
	Allowed Verdict = iota
	// Refused: the frame is over the limit. Read returns its message with Refused set, and does not
	// answer a ping.
	Refused
	// Flooded: the client goes on far over the limit. Read returns ErrFlood.
	Flooded
)

// Message is what a client sent.
type Message struct {
	Data []byte
	// Text is set when it was a text message, of valid UTF-8.
	Text bool
	// Refused is set when the rate limit refused it, or a frame of it.
	Refused bool
}

// Errors of Read.
var (
	// ErrFlood: the rate limit's verdict was Flooded.
	ErrFlood = errors.New("the client sends too much")
	// ErrTooLarge: a message is larger than Limits.MaxMessageBytes.
	ErrTooLarge = errors.New("the message is too large")
	// ErrReadTimeout: a message took longer than Limits.ReadTimeout.
	ErrReadTimeout = errors.New("the client does not finish its message")
	// ErrText: a text message is not UTF-8.
	ErrText = errors.New("the text is not UTF-8")
	// ErrProtocol: the client broke a rule of RFC 6455.
	ErrProtocol = errors.New("not a frame of RFC 6455")
)

// Errors of Write and Ping.
var (
	// ErrWriteTimeout: the write took longer than Limits.WriteTimeout. The connection is closed.
	ErrWriteTimeout = errors.New("the client does not read")
	// ErrClosing: a close frame was sent before.
	ErrClosing = errors.New("the connection is being closed")
)

// CloseError is the client's close frame. Code is 1005 when the frame had none.
type CloseError struct {
	Code   int
	Reason string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("closed by the client: %d %q", e.Code, e.Reason)
}
