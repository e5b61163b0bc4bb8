package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

const (
	// bufferBytes is what a connection that waits reads into: most frames of clients fit.
	bufferBytes = 512
	// pieceBytes is how much is made room for at a time in a message that is longer.
	pieceBytes = 16 << 10
)

// Read waits for the client's next message. It answers control frames meanwhile. Errors are a
// *CloseError, those above, or the connection's; all are final.
func (c *Conn) Read() (Message, error) {
	var m Message
	state := ws.StateServerSide
	for {
		h, err := c.header(state)
		if err != nil {
			return Message{}, err
		}
		verdict := Allowed
		if c.Meter != nil {
			verdict = c.Meter.Take(int(h.Length))
		}
		switch {
		case verdict == Flooded:
			return Message{}, ErrFlood
		case h.OpCode.IsControl():
			if err := c.control(h, verdict); err != nil {
				return Message{}, err
			}
			if !state.Fragmented() {
				c.relax()
			}
			continue
		case h.OpCode != ws.OpContinuation:
			m.Text = h.OpCode == ws.OpText
		}
		m.Refused = m.Refused || verdict == Refused
		if m.Data, err = c.payload(m.Data, h); err != nil {
			return Message{}, err
		}
		if !h.Fin {
			state = state.Set(ws.StateFragmented)
			continue
		}
		c.relax()
		if m.Text && !utf8.Valid(m.Data) {
			return Message{}, ErrText
		}
		return m, nil
	}
}

// Ready says that the next message is here whole, so that Read does not wait: clients often say two things in one
// breath. It knows short ones only. It is for the goroutine that reads.
func (c *Conn) Ready() bool {
	const head, mask, longest, flags = 2, 4, 125, 0x80
	if len(c.buffer) < head || c.buffer[0] != flags|byte(ws.OpText) || c.buffer[1]&flags == 0 {
		return false
	}
	length := int(c.buffer[1] &^ flags)
	switch {
	case length <= longest:
		return len(c.buffer) >= head+mask+length
	case length == longest+1 && len(c.buffer) >= head+2:
		return len(c.buffer) >= head+2+mask+int(binary.BigEndian.Uint16(c.buffer[head:]))
	}
	return false
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
	c.begun = false
	if c.deadline {
		c.deadline = false
		_ = c.conn.SetReadDeadline(time.Time{}) // see hurry
	}
}

// fill waits for bytes when the buffer has none. What it waits for within a message has the message's time.
func (c *Conn) fill() error {
	if len(c.buffer) > 0 {
		return nil
	}
	if c.begun {
		c.hurry()
	}
	if cap(c.buffer) == 0 {
		c.buffer = make([]byte, 0, bufferBytes)
	}
	for len(c.buffer) == 0 {
		n, err := c.conn.Read(c.buffer[:cap(c.buffer)])
		c.buffer = c.buffer[:n]
		if err != nil && n == 0 {
			return ended(err)
		}
	}
	return nil
}

// incoming is what the client sends, through the buffer.
type incoming Conn

// Read implements io.Reader.
func (in *incoming) Read(p []byte) (int, error) {
	c := (*Conn)(in)
	if len(c.buffer) == 0 && len(p) >= bufferBytes { // the buffer would only be in the way
		c.hurry()
		n, err := c.conn.Read(p)
		return n, ended(err)
	}
	if err := c.fill(); err != nil {
		return 0, err
	}
	n := copy(p, c.buffer)
	rest := copy(c.buffer[:cap(c.buffer)], c.buffer[n:])
	c.buffer = c.buffer[:rest]
	c.begun = true
	return n, nil
}

// ended is the error of a read that failed.
func ended(err error) error {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return ErrStalled
	}
	return err
}

// header reads a frame's header, which is of no more than MaxMessageBytes.
func (c *Conn) header(state ws.State) (ws.Header, error) {
	if err := c.fill(); err != nil { // not below ReadHeader: it would double the stack of a connection that waits
		return ws.Header{}, err
	}
	in := &counted{from: (*incoming)(c)}
	h, err := ws.ReadHeader(in)
	if err == nil {
		err = ws.CheckHeader(h, state)
	}
	_, broken := errors.AsType[ws.ProtocolError](err)
	switch {
	case broken || errors.Is(err, ws.ErrHeaderLengthMSB) || errors.Is(err, ws.ErrHeaderLengthUnexpected):
		return h, fmt.Errorf("%w: %w", ErrProtocol, err)
	case err != nil:
		return h, err
	case h.OpCode.IsControl() && in.bytes != ws.HeaderSize(h): // the library takes a short length that is written long
		return h, fmt.Errorf("%w: the length of a control frame is not in one byte", ErrProtocol)
	case h.Length > int64(c.limits.MaxMessageBytes):
		return h, ErrTooLarge
	}
	return h, nil
}

// counted counts what is read.
type counted struct {
	from  io.Reader
	bytes int
}

func (r *counted) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.bytes += n
	return n, err
}

// payload appends a frame's payload to a message. Room is made as bytes come, not as they are promised.
func (c *Conn) payload(data []byte, h ws.Header) ([]byte, error) {
	at, length := len(data), int(h.Length)
	if at+length > c.limits.MaxMessageBytes {
		return nil, ErrTooLarge
	}
	for end := at + length; len(data) < end; {
		from := len(data)
		piece := min(end-from, max(pieceBytes, from))
		if cap(data)-from < piece {
			data = append(make([]byte, 0, from+piece), data...)
		}
		data = data[:from+piece]
		if _, err := io.ReadFull((*incoming)(c), data[from:]); err != nil {
			return nil, err
		}
	}
	ws.Cipher(data[at:], h.Mask, 0)
	return data, nil
}

// control takes a control frame.
func (c *Conn) control(h ws.Header, verdict Verdict) error {
	payload, err := c.payload(nil, h)
	if err != nil {
		return err
	}
	switch h.OpCode {
	case ws.OpPing:
		if verdict == Refused {
			return nil
		}
		err := c.send(func(out *bytes.Buffer) { put(out, ws.NewPongFrame(payload)) })
		if !errors.Is(err, ErrClosing) { // or the client's close frame is still to come
			return err
		}
	case ws.OpPong:
		if c.Pong != nil {
			c.Pong()
		}
	case ws.OpClose:
		return c.closed(payload)
	}
	return nil
}

// closed answers the client's close frame and says what it was.
func (c *Conn) closed(payload []byte) error {
	e := &CloseError{Code: int(ws.StatusNoStatusRcvd)}
	if len(payload) > 0 {
		code, reason := ws.ParseCloseFrameData(payload)
		if err := checkClose(code, reason); err != nil {
			return fmt.Errorf("%w: a close frame with code %d: %w", ErrProtocol, code, err)
		}
		e.Code, e.Reason = int(code), reason
		payload = payload[:2]
	}
	c.answered = true
	_ = c.sendClose(payload) // it is going anyway
	return e
}

// checkClose is the library's check but for two things: it does not know the codes that were registered
// after RFC 6455, 1012 to 1014, and takes those above 4999, which nobody may use (7.4.2).
func checkClose(code ws.StatusCode, reason string) error {
	switch {
	case code > ws.StatusRangePrivate.Max:
		return ws.ErrProtocolStatusCodeUnknown
	case code >= 1012 && code <= 1014:
		code = ws.StatusGoingAway
	}
	return ws.CheckCloseFrameData(code, reason)
}
