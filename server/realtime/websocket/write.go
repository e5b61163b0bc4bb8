package websocket

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/gobwas/ws"
)

const (
	// closeTimeout is how long a client may take to answer a close frame.
	closeTimeout = 5 * time.Second
	// maxDiscardedBytes is how much the client may send meanwhile.
	maxDiscardedBytes = 4 << 20
)

// Write sends text messages. Errors: ErrWriteTimeout, ErrClosing, the connection's.
func (c *Conn) Write(messages [][]byte) error {
	frames := make([]ws.Frame, len(messages))
	for i, message := range messages {
		frames[i] = ws.NewTextFrame(message)
	}
	return c.writeFrames(frames...)
}

// Ping sends a ping. Read calls OnPong for the client's answer. Errors: as Write.
func (c *Conn) Ping() error { return c.writeFrames(ws.NewPingFrame(nil)) }

// Close sends a close frame. The client answers it: call Read until that comes, or Discard. The
// connection is closed after five seconds at the latest.
// Errors: as Write, but nil when a close frame was sent before.
func (c *Conn) Close(code int, reason string) error {
	body := ws.NewCloseFrameBody(ws.StatusCode(code), reason)
	err := c.writeFrames(ws.NewCloseFrame(body))
	if errors.Is(err, ErrClosing) {
		err = nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closeTimer == nil {
		c.closeTimer = time.AfterFunc(closeTimeout, func() { _ = c.conn.Close() })
	}
	return err
}

// Discard ends the connection behind Close when Read is not called any more. It throws away what
// the client still sends until the client closes, for as long as Close allows: a connection that is
// closed with bytes unread is reset, and the client might never see the close frame.
func (c *Conn) Discard() {
	if !c.closeReceived {
		_ = c.conn.SetReadDeadline(time.Time{}) // the next read of a broken connection fails
		_, _ = io.CopyN(io.Discard, c.conn, maxDiscardedBytes)
	}
	c.CloseNow()
}

// CloseNow closes the connection without a close frame.
func (c *Conn) CloseNow() {
	_ = c.conn.Close() // before the lock: a write that is stuck holds it
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closeTimer != nil {
		c.closeTimer.Stop()
	}
}

// writeFrames writes frames with as few writes to the connection as its buffer allows. A write that
// takes too long closes the connection: the rest of a frame cannot be sent later.
func (c *Conn) writeFrames(frames ...ws.Frame) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closeSent {
		return ErrClosing
	}
	// The write below fails if the connection is broken.
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.limits.WriteTimeout))
	defer func() { _ = c.conn.SetWriteDeadline(time.Time{}) }()
	for _, frame := range frames {
		c.closeSent = frame.Header.OpCode == ws.OpClose
		_ = ws.WriteFrame(c.writer, frame) // the writer keeps its first error for Flush
	}
	err := c.writer.Flush()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = c.conn.Close() // the error is returned
		return ErrWriteTimeout
	}
	return err
}
