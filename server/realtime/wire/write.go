package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

const (
	// batchBytes is about how much is written with one system call.
	batchBytes = 64 << 10
	// closeWithin is how long a client may take to answer a close frame.
	closeWithin = 5 * time.Second
	// lingerBytes is how much it may send meanwhile.
	lingerBytes = 4 << 20
)

// ErrSlow is the error of a write that took longer than WriteWithin. The connection is closed.
var ErrSlow = errors.New("the client does not read")

// ErrClosing is the error of a write behind a close frame.
var ErrClosing = errors.New("the connection is being closed")

// buffers are for writes; a large one is let go.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write sends text messages, as many as fit with each system call.
// Errors: ErrSlow, ErrClosing, the connection's.
func (c *Conn) Write(messages [][]byte) error {
	for len(messages) > 0 {
		err := c.send(func(out *bytes.Buffer) {
			for len(messages) > 0 && (out.Len() == 0 || out.Len()+len(messages[0]) <= batchBytes) {
				put(out, ws.NewTextFrame(messages[0]))
				messages = messages[1:]
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Ping sends a ping. Its pong comes to Conn.Pong while somebody reads. Errors: as Write's.
func (c *Conn) Ping() error {
	return c.send(func(out *bytes.Buffer) { put(out, ws.NewPingFrame(nil)) })
}

// Close sends a close frame. The client answers it: call Read until that comes, or Linger. The connection
// is closed after five seconds at the latest.
// Errors: as Write's, nil when the client was first.
func (c *Conn) Close(code int, reason string) error {
	err := c.sendClose(ws.NewCloseFrameBody(ws.StatusCode(code), reason)) //nolint:gosec // close codes fit
	if errors.Is(err, ErrClosing) {
		err = nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.stall.last(closeWithin)
	return err
}

// Linger ends the connection behind Close when nobody calls Read any more: what the client still sends is thrown
// away for a while, or the client might never see why it was closed. Then it is CloseNow.
func (c *Conn) Linger() {
	if !c.answered {
		_ = c.conn.SetReadDeadline(time.Time{})          // that of a message; a broken connection's next read tells
		_, _ = io.CopyN(io.Discard, c.conn, lingerBytes) // until Close's time is over, too
	}
	c.CloseNow()
}

// CloseNow closes the connection without a word.
func (c *Conn) CloseNow() {
	_ = c.conn.Close() // first: a write that is stuck holds the lock
	c.writing.Lock()
	defer c.writing.Unlock()
	c.stall.stop()
}

func (c *Conn) sendClose(payload []byte) error {
	return c.sendLast(func(out *bytes.Buffer) { put(out, ws.NewCloseFrame(payload)) }, true)
}

func (c *Conn) send(fill func(*bytes.Buffer)) error { return c.sendLast(fill, false) }

// sendLast writes what fill puts into a buffer.
func (c *Conn) sendLast(fill func(*bytes.Buffer), last bool) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closing {
		return ErrClosing
	}
	c.closing = last
	out := buffers.Get().(*bytes.Buffer) //nolint:errcheck,forcetypeassert // the pool's own
	fill(out)
	err := c.write(out.Bytes())
	if out.Cap() <= 2*batchBytes {
		out.Reset()
		buffers.Put(out)
	}
	return err
}

// put appends a frame. A buffer has no errors, and no frame is too long for the library.
func put(out *bytes.Buffer, frame ws.Frame) { _ = ws.WriteFrame(out, frame) }

// write gives up after WriteWithin, by closing: half a frame cannot be taken back.
func (c *Conn) write(out []byte) error {
	c.stall.begin(c.limits.WriteWithin)
	_, err := c.conn.Write(out)
	if !c.stall.end() && err != nil {
		return ErrSlow
	}
	return err
}
