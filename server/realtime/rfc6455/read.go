package rfc6455

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// bufferBytes is what a connection that waits reads into: most frames of clients fit.
	bufferBytes = 512
	// pieceBytes is how much is made room for at a time in a message that is longer.
	pieceBytes = 16 << 10
	// maxControlBytes is the most a control frame may have. Source: RFC 6455, 5.5.
	maxControlBytes = 125
)

// The opcodes. Source: RFC 6455, 5.2.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xA
)

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
	// deadline says that a message has begun, answered that the client's close frame has come.
	deadline, answered bool

	writing sync.Mutex
	// closing says that a close frame is out: nothing may follow it. Guarded by writing.
	closing bool
	// stall closes the connection when a write takes too long; guarded by writing.
	stall *time.Timer
}

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

// header is a frame's.
type header struct {
	final  bool
	op     byte
	length int
	mask   [4]byte
}

// Read waits for the client's next message. It answers control frames meanwhile. Errors are a
// *CloseError, those above, or the connection's; all are final.
func (c *Conn) Read() (Message, error) {
	var m Message
	kind := byte(opContinuation)
	for {
		h, err := c.header()
		if err != nil {
			return Message{}, err
		}
		verdict := Allowed
		if c.Meter != nil {
			verdict = c.Meter.Take(h.length)
		}
		switch {
		case verdict == Flooded:
			return Message{}, ErrFlood
		case h.op >= opClose:
			if err := c.control(h, verdict, kind != opContinuation); err != nil {
				return Message{}, err
			}
			continue
		case (h.op == opContinuation) == (kind == opContinuation):
			return Message{}, fmt.Errorf("%w: a fragment out of place", ErrProtocol)
		case h.op != opContinuation:
			kind = h.op
		}
		m.Refused = m.Refused || verdict == Refused
		if m.Data, err = c.payload(m.Data, h); err != nil {
			return Message{}, err
		}
		if !h.final {
			continue
		}
		c.relax()
		if m.Text = kind == opText; m.Text && !utf8.Valid(m.Data) {
			return Message{}, ErrText
		}
		return m, nil
	}
}

// hurry begins the time that a message has.
func (c *Conn) hurry() {
	if !c.deadline {
		c.deadline = true
		_ = c.conn.SetReadDeadline(time.Now().Add(c.limits.ReadWithin)) // a broken connection's next read tells
	}
}

// relax ends it.
func (c *Conn) relax() {
	if c.deadline {
		c.deadline = false
		_ = c.conn.SetReadDeadline(time.Time{}) // see hurry
	}
}

// fill reads until the buffer has n bytes, n ≤ bufferBytes.
func (c *Conn) fill(n int) error {
	for len(c.buffer) < n {
		if cap(c.buffer) < bufferBytes {
			c.buffer = append(make([]byte, 0, bufferBytes), c.buffer...)
		}
		if len(c.buffer) > 0 {
			c.hurry()
		}
		got, err := c.conn.Read(c.buffer[len(c.buffer):cap(c.buffer)])
		c.buffer = c.buffer[:len(c.buffer)+got]
		if err != nil && len(c.buffer) < n {
			return c.ended(err)
		}
	}
	return nil
}

// ended is the error of a read that failed.
func (c *Conn) ended(err error) error {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return ErrStalled
	}
	return err
}

// take removes n bytes from the front of the buffer.
func (c *Conn) take(n int) {
	rest := copy(c.buffer[:cap(c.buffer)], c.buffer[n:])
	c.buffer = c.buffer[:rest]
}

// header reads a frame's header.
func (c *Conn) header() (h header, err error) {
	if err := c.fill(2); err != nil {
		return h, err
	}
	first, second := c.buffer[0], c.buffer[1]
	h.final, h.op = first&0x80 != 0, first&0xF
	size := 6
	switch second & 0x7F {
	case 126:
		size = 8
	case 127:
		size = 14
	}
	switch {
	case first&0x70 != 0:
		return h, fmt.Errorf("%w: a reserved bit is set", ErrProtocol)
	case second&0x80 == 0:
		return h, fmt.Errorf("%w: a frame is not masked", ErrProtocol)
	case h.op > opBinary && h.op < opClose || h.op > opPong:
		return h, fmt.Errorf("%w: an unknown opcode", ErrProtocol)
	case h.op >= opClose && (!h.final || size > 6):
		return h, fmt.Errorf("%w: a control frame is too long or in pieces", ErrProtocol)
	}
	if err := c.fill(size); err != nil {
		return h, err
	}
	length := uint64(second & 0x7F)
	switch size {
	case 8:
		length = uint64(binary.BigEndian.Uint16(c.buffer[2:]))
	case 14:
		length = binary.BigEndian.Uint64(c.buffer[2:])
	}
	if length > uint64(c.limits.MaxMessageBytes) { //nolint:gosec // a limit is positive
		return h, ErrTooLarge
	}
	h.length = int(length) //nolint:gosec // checked
	copy(h.mask[:], c.buffer[size-4:size])
	c.take(size)
	return h, nil
}

// payload appends a frame's payload to a message. Room is made as bytes come, not as they are promised.
func (c *Conn) payload(data []byte, h header) ([]byte, error) {
	if len(data)+h.length > c.limits.MaxMessageBytes {
		return nil, ErrTooLarge
	}
	at := len(data)
	here := min(h.length, len(c.buffer))
	data = append(data, c.buffer[:here]...)
	c.take(here)
	for missing := h.length - here; missing > 0; {
		c.hurry()
		piece := min(missing, max(pieceBytes, len(data)))
		if cap(data)-len(data) < piece {
			data = append(make([]byte, 0, len(data)+piece), data...)
		}
		got, err := c.conn.Read(data[len(data) : len(data)+piece])
		data, missing = data[:len(data)+got], missing-got
		if err != nil && missing > 0 {
			return nil, c.ended(err)
		}
	}
	unmask(data[at:], h.mask)
	if !h.final {
		c.hurry()
	}
	return data, nil
}

// unmask undoes the client's mask.
func unmask(data []byte, mask [4]byte) {
	word := uint64(binary.LittleEndian.Uint32(mask[:]))
	word |= word << 32
	for ; len(data) >= 8; data = data[8:] {
		binary.LittleEndian.PutUint64(data, binary.LittleEndian.Uint64(data)^word)
	}
	for i := range data {
		data[i] ^= mask[i&3]
	}
}

// control takes a control frame; inMessage says that it came between the pieces of a message.
func (c *Conn) control(h header, verdict Verdict, inMessage bool) error {
	if err := c.fill(h.length); err != nil {
		return err
	}
	payload := append([]byte(nil), c.buffer[:h.length]...)
	c.take(h.length)
	unmask(payload, h.mask)
	if !inMessage {
		c.relax()
	}
	switch h.op {
	case opPing:
		if verdict == Refused {
			return nil
		}
		err := c.send(func(out []byte) []byte { return appendFrame(out, opPong, payload) })
		if errors.Is(err, ErrClosing) {
			return nil // the client's close frame is still to come
		}
		return err
	case opPong:
		if c.Pong != nil {
			c.Pong()
		}
		return nil
	}
	return c.closed(payload)
}

// closed answers the client's close frame and says what it was.
func (c *Conn) closed(payload []byte) error {
	e := &CloseError{Code: 1005}
	switch {
	case len(payload) == 1:
		return fmt.Errorf("%w: a close frame of one byte", ErrProtocol)
	case len(payload) > 1:
		e.Code, e.Reason = int(binary.BigEndian.Uint16(payload)), string(payload[2:])
		if !validCode(e.Code) || !utf8.ValidString(e.Reason) {
			return fmt.Errorf("%w: a close frame with code %d", ErrProtocol, e.Code)
		}
		payload = payload[:2]
	}
	c.answered = true
	_ = c.sendClose(payload) // it is going anyway
	return e
}

// validCode says whether a close frame may have the code. Source: RFC 6455, 7.4.
func validCode(code int) bool {
	switch {
	case code >= 3000 && code < 5000:
		return true
	case code < 1000 || code > 1014:
		return false
	}
	return code != 1004 && code != 1005 && code != 1006
}
