package socket

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Params are the parameters of Start.
type Params struct {
	Dialer Dialer
	// ReceiveFunc gets each message of the server, on a goroutine of the connection. It returns true
	// when the exchange is complete. Its error ends the connection.
	ReceiveFunc func(message []byte) (complete bool, err error)
	// KeepAlive is a text message that is sent when nothing was for KeepAliveEvery. Empty: none.
	KeepAlive      []byte
	KeepAliveEvery time.Duration
	// MaxQueuedBytes bounds what waits to be sent.
	MaxQueuedBytes int
}

// ErrFellBehind ends a connection whose server takes what is sent too slowly.
var ErrFellBehind = errors.New("the server takes audio too slowly")

// Message is one message to send.
type Message struct {
	Data []byte
	// Text makes it a text message; else it is binary.
	Text bool
}

// Conn is a connection that is being made, open or ended.
type Conn struct {
	params Params
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	done   chan struct{}
	wake   chan struct{} // size 1: one signal says all

	mu     sync.Mutex
	queue  []Message
	queued int // bytes
	opened bool
	err    error
}

// Start begins to connect and returns at once. The end of ctx ends the connection. The caller must
// call Close.
func Start(ctx context.Context, p Params) *Conn {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &Conn{params: p, cancel: cancel, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	c.work.Go(func() {
		defer close(c.done)
		c.end(c.run(ctx))
	})
	return c
}

// Send queues a message. It does not wait. Errors: why the connection has ended.
func (c *Conn) Send(m Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	if c.queued+len(m.Data) > c.params.MaxQueuedBytes {
		c.cancel(ErrFellBehind)
		return ErrFellBehind
	}
	c.queue = append(c.queue, m)
	c.queued += len(m.Data)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the connection has ended: nil while it has not, and when the exchange is complete.
// Without Dialer's errors it is *Closed, ReceiveFunc's error, or a failure of the network.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, errComplete) {
		return nil
	}
	return c.err
}

// Opened reports whether the handshake succeeded.
func (c *Conn) Opened() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// Close ends the connection and waits until nothing of it runs.
func (c *Conn) Close() {
	c.cancel(nil)
	c.work.Wait()
}

// errComplete is the end of an exchange that is complete.
var errComplete = errors.New("the exchange is complete")

func (c *Conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.queue = err, nil
}

// run connects, reads, and sends until one of both ends.
func (c *Conn) run(ctx context.Context) error {
	conn, err := c.params.Dialer.Dial(ctx)
	if err != nil {
		return causeOr(ctx, err)
	}
	defer conn.CloseNow() //nolint:errcheck // the connection is given up
	c.mu.Lock()
	c.opened = true
	c.mu.Unlock()

	sending, stop := context.WithCancel(ctx)
	var sender sync.WaitGroup
	sender.Go(func() { c.send(sending, conn) })
	err = c.receive(ctx, conn)
	stop()
	sender.Wait()
	return causeOr(ctx, err)
}

// causeOr is why ctx was cancelled, if it was for a reason of our own, or err.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errComplete) && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

func (c *Conn) receive(ctx context.Context, conn *websocket.Conn) error {
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return WithoutWords(err)
		}
		complete, err := c.params.ReceiveFunc(message)
		if err != nil {
			return err
		}
		if complete {
			return errComplete // without a closing handshake, for which somebody would wait
		}
	}
}

// send sends what is queued, and keeps the connection alive. It returns when a message cannot be
// sent: the reader gets the better error, because the server may say why it closes.
func (c *Conn) send(ctx context.Context, conn *websocket.Conn) {
	var idle <-chan time.Time
	if len(c.params.KeepAlive) > 0 {
		ticks := time.NewTicker(c.params.KeepAliveEvery)
		defer ticks.Stop()
		idle = ticks.C
	}
	quiet := true
	for {
		for _, m := range c.take() {
			kind := websocket.MessageBinary
			if m.Text {
				kind = websocket.MessageText
			}
			if conn.Write(ctx, kind, m.Data) != nil {
				return
			}
			quiet = false
		}
		select {
		case <-c.wake:
		case <-idle:
			if quiet && conn.Write(ctx, websocket.MessageText, c.params.KeepAlive) != nil {
				return
			}
			quiet = true
		case <-ctx.Done():
			return
		}
	}
}

func (c *Conn) take() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	messages := c.queue
	c.queue, c.queued = nil, 0
	return messages
}
