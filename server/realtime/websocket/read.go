package websocket

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// Read waits for the client's next message and answers control frames meanwhile. Errors are a
// *CloseError, the errors of this package, or the connection's. All are final.
func (c *Conn) Read() (Message, error) {
	var message Message
	var data bytes.Buffer
	state := ws.StateServerSide
	defer c.receiving.Store(false)
	for {
		if !state.Fragmented() {
			if err := c.awaitFrame(); err != nil {
				return Message{}, err
			}
		}
		header, verdict, err := c.readHeader(state)
		if err != nil {
			return Message{}, err
		}
		if header.OpCode.IsControl() {
			if err := c.handleControl(header, verdict); err != nil {
				return Message{}, err
			}
			continue
		}
		if header.OpCode != ws.OpContinuation {
			message.Text = header.OpCode == ws.OpText
		}
		message.Refused = message.Refused || verdict == Refused
		if err := c.readPayload(&data, header); err != nil {
			return Message{}, err
		}
		if !header.Fin {
			state = state.Set(ws.StateFragmented)
			continue
		}
		message.Data = data.Bytes()
		if message.Text && !utf8.Valid(message.Data) {
			return Message{}, ErrText
		}
		return message, nil
	}
}

// NextIsBuffered reports whether the client's next message has arrived whole in one text frame, so
// that Read returns it at once. It is false for one that the read buffer cannot hold. It is for the
// goroutine that reads.
func (c *Conn) NextIsBuffered() bool {
	arrived := c.reader.Buffered()
	start, err := c.reader.Peek(min(arrived, ws.MaxHeaderSize))
	if err != nil {
		return false
	}
	header, err := ws.ReadHeader(bytes.NewReader(start))
	return err == nil && header.Fin && header.OpCode == ws.OpText && int64(arrived-ws.HeaderSize(header)) >= header.Length
}

// awaitFrame waits, without a limit, for the first byte of a frame, and then starts the time that
// its message may take.
func (c *Conn) awaitFrame() error {
	c.receiving.Store(false)
	_ = c.conn.SetReadDeadline(time.Time{}) // the next read of a broken connection fails
	if _, err := c.reader.Peek(1); err != nil {
		return err
	}
	c.receiving.Store(true)
	_ = c.conn.SetReadDeadline(time.Now().Add(c.limits.ReadTimeout)) // as above
	return nil
}

// readHeader reads a frame's header and asks the rate limit about the frame.
func (c *Conn) readHeader(state ws.State) (ws.Header, Verdict, error) {
	start, err := c.reader.Peek(2)
	if err != nil {
		return ws.Header{}, Allowed, readError(err)
	}
	const opcode, length = 0x0f, 0x7f
	isControl := ws.OpCode(start[0] & opcode).IsControl()
	if isControl && start[1]&length > ws.MaxControlFramePayloadSize {
		// The library takes a short length that is written in the long form.
		return ws.Header{}, Allowed, fmt.Errorf("%w: a long control frame", ErrProtocol)
	}
	header, err := ws.ReadHeader(c.reader)
	if err == nil {
		err = ws.CheckHeader(header, state)
	}
	_, broken := errors.AsType[ws.ProtocolError](err)
	switch {
	case broken, errors.Is(err, ws.ErrHeaderLengthMSB), errors.Is(err, ws.ErrHeaderLengthUnexpected):
		return header, Allowed, fmt.Errorf("%w: %w", ErrProtocol, err)
	case err != nil:
		return header, Allowed, readError(err)
	case header.Length > int64(c.limits.MaxMessageBytes):
		return header, Allowed, ErrTooLarge
	case c.Rate == nil:
		return header, Allowed, nil
	}
	verdict := c.Rate(int(header.Length))
	if verdict == Flooded {
		return header, verdict, ErrFlood
	}
	return header, verdict, nil
}

// readPayload appends a frame's payload to a message. The buffer grows as bytes arrive, whatever
// length the header promises.
func (c *Conn) readPayload(message *bytes.Buffer, header ws.Header) error {
	begin := message.Len()
	if int64(begin)+header.Length > int64(c.limits.MaxMessageBytes) {
		return ErrTooLarge
	}
	if _, err := io.CopyN(message, c.reader, header.Length); err != nil {
		return readError(err)
	}
	ws.Cipher(message.Bytes()[begin:], header.Mask, 0)
	return nil
}

// readError is the error of a read within a message.
func readError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrReadTimeout
	}
	return err
}

func (c *Conn) handleControl(header ws.Header, verdict Verdict) error {
	var payload bytes.Buffer
	if err := c.readPayload(&payload, header); err != nil {
		return err
	}
	switch header.OpCode {
	case ws.OpPing:
		if verdict == Refused {
			return nil
		}
		err := c.writeFrames(ws.NewPongFrame(payload.Bytes()))
		if !errors.Is(err, ErrClosing) { // the client's close frame is still to come
			return err
		}
	case ws.OpPong:
		if c.OnPong != nil {
			c.OnPong()
		}
	case ws.OpClose:
		return c.handleClose(payload.Bytes())
	default: // there are no other control frames
	}
	return nil
}

// handleClose answers the client's close frame and returns it as a *CloseError.
func (c *Conn) handleClose(payload []byte) error {
	received := &CloseError{Code: int(ws.StatusNoStatusRcvd)}
	if len(payload) > 0 {
		code, reason := ws.ParseCloseFrameData(payload)
		if err := checkClose(code, reason); err != nil {
			return fmt.Errorf("%w: a close frame with code %d: %w", ErrProtocol, code, err)
		}
		received.Code, received.Reason = int(code), reason
		payload = payload[:2] // the answer has the code alone
	}
	c.closeReceived = true
	_ = c.writeFrames(ws.NewCloseFrame(payload)) // the connection ends in either case
	return received
}

// checkClose is the library's check with two corrections: the library refuses the codes 1012 to
// 1014, which were registered after RFC 6455, and takes codes above 4999, which RFC 6455, 7.4.2,
// does not allow.
func checkClose(code ws.StatusCode, reason string) error {
	switch {
	case code > ws.StatusRangePrivate.Max:
		return ws.ErrProtocolStatusCodeUnknown
	case code >= 1012 && code <= 1014:
		code = ws.StatusGoingAway
	}
	return ws.CheckCloseFrameData(code, reason)
}
