package rfc6455

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"time"
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
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Write sends text messages, as many as fit with each system call.
// Errors: ErrSlow, ErrClosing, the connection's.
func (c *Conn) Write(messages [][]byte) error {
	for len(messages) > 0 {
		err := c.send(func(out []byte) []byte {
			for len(messages) > 0 && (len(out) == 0 || len(out)+len(messages[0]) <= batchBytes) {
				out = appendFrame(out, opText, messages[0])
				messages = messages[1:]
			}
			return out
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Ping sends a ping. Its pong comes to Conn.Pong while somebody reads. Errors: as Write's.
func (c *Conn) Ping() error {
	return c.send(func(out []byte) []byte { return appendFrame(out, opPing, nil) })
}

// Close sends a close frame. The client answers it: call Read until that comes, or Linger. The connection
// is closed after five seconds at the latest.
// Errors: as Write's, nil when the client was first.
func (c *Conn) Close(code int, reason string) error {
	payload := append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...) //nolint:gosec // close codes fit
	if len(payload) > maxControlBytes {
		payload = payload[:maxControlBytes]
	}
	err := c.sendClose(payload)
	if errors.Is(err, ErrClosing) {
		err = nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.stall != nil {
		c.stall.Reset(closeWithin)
	}
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
	if c.stall != nil {
		c.stall.Stop()
	}
}

func (c *Conn) sendClose(payload []byte) error {
	return c.sendLast(func(out []byte) []byte { return appendFrame(out, opClose, payload) }, true)
}

func (c *Conn) send(fill func([]byte) []byte) error { return c.sendLast(fill, false) }

// sendLast writes what fill puts into a buffer.
func (c *Conn) sendLast(fill func([]byte) []byte, last bool) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closing {
		return ErrClosing
	}
	c.closing = last
	buffer := buffers.Get().(*[]byte) //nolint:errcheck,forcetypeassert // the pool's own
	out := fill((*buffer)[:0])
	err := c.put(out)
	if cap(out) <= 2*batchBytes {
		*buffer = out[:0]
		buffers.Put(buffer)
	}
	return err
}

// put writes and gives up after WriteWithin, by closing: half a frame cannot be taken back.
func (c *Conn) put(out []byte) error {
	if c.stall == nil {
		c.stall = time.AfterFunc(c.limits.WriteWithin, func() { _ = c.conn.Close() })
	} else {
		c.stall.Reset(c.limits.WriteWithin)
	}
	_, err := c.conn.Write(out)
	if !c.stall.Stop() && err != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrSlow
	}
	return err
}

// appendFrame appends a whole frame of a server.
func appendFrame(out []byte, op byte, payload []byte) []byte {
	out = append(out, 0x80|op)
	switch n := len(payload); {
	case n < 126:
		out = append(out, byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 126), uint16(n)) //nolint:gosec // checked
	default:
		out = binary.BigEndian.AppendUint64(append(out, 127), uint64(n)) //nolint:gosec // a length
	}
	return append(out, payload...)
}
