package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// answerPatience bounds waiting for an answer.
const answerPatience = 60 * time.Second

// chatter is a bare client of a chat socket: frames by hand over a connection, so that thousands
// of them cost the measured machine little.
type chatter struct {
	conn net.Conn
	// session is its id; the relay's sockets have none.
	session string
	// opened has one value once session.created came; ended is closed behind the last frame, and
	// err says why.
	opened chan struct{}
	ended  chan struct{}
	err    error
	// firsts and dones say when an answer's first piece and its end came.
	firsts, dones chan time.Time
}

// dialChat opens a socket and reads it from then on.
func dialChat(ctx context.Context, chatURL string) (*chatter, error) {
	target, err := url.Parse(chatURL)
	if err != nil {
		return nil, fmt.Errorf("reading chat_url: %w", err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", target.Host)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	_ = conn.SetDeadline(time.Now().Add(answerPatience)) // the connection is open
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", target.RequestURI(), target.Host)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("asking for a socket: %w", err), conn.Close())
	}
	reader := bufio.NewReaderSize(conn, 4096)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the handshake: %w", err), conn.Close())
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		text, _ := io.ReadAll(response.Body) // whatever there is
		return nil, errors.Join(fmt.Errorf("the socket was refused: %d %s", response.StatusCode, text), conn.Close())
	}
	_ = conn.SetDeadline(time.Time{}) // the connection is open
	c := &chatter{
		conn: conn, opened: make(chan struct{}, 1), ended: make(chan struct{}),
		firsts: make(chan time.Time, 1), dones: make(chan time.Time, 1),
	}
	go func() {
		c.err = c.read(reader)
		close(c.ended)
	}()
	return c, nil
}

// Frames as RFC 6455, 5.2 has them.
const (
	opText  = 0x1
	opClose = 0x8
	opPing  = 0x9
	opPong  = 0xA
	final   = 0x80
	masked  = 0x80
)

// frameOf is a client's frame; its mask is all zero, which leaves the payload as it is.
func frameOf(op byte, payload []byte) []byte {
	out := []byte{final | op, 0}
	switch n := len(payload); {
	case n < 126:
		out[1] = byte(n)
	case n < 1<<16:
		out[1] = 126
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	default:
		out[1] = 127
		out = binary.BigEndian.AppendUint64(out, uint64(n))
	}
	out[1] |= masked
	return append(append(out, 0, 0, 0, 0), payload...)
}

// The beginnings of the frames that are looked at.
var (
	typeCreated = []byte(`{"type":"session.created"`)
	typeDelta   = []byte(`{"type":"response.output_text.delta"`)
	typeDone    = []byte(`{"type":"response.done"`)
	typeError   = []byte(`{"type":"error"`)
)

// read takes frames until the connection ends. The server's are whole and not masked.
func (c *chatter) read(reader *bufio.Reader) error {
	first := true
	for {
		op, payload, err := readFrame(reader)
		if err != nil {
			return err
		}
		switch {
		case op == opPing:
			if _, err := c.conn.Write(frameOf(opPong, payload)); err != nil {
				return fmt.Errorf("answering a ping: %w", err)
			}
		case op == opClose:
			if len(payload) < 2 {
				return errors.New("closed without a code")
			}
			return fmt.Errorf("closed with %d %s", binary.BigEndian.Uint16(payload), payload[2:])
		case op != opText:
		case bytes.HasPrefix(payload, typeDelta):
			if first {
				first = false
				notify(c.firsts, time.Now())
			}
		case bytes.HasPrefix(payload, typeDone):
			if !bytes.Contains(payload[:min(len(payload), 400)], []byte(`"status":"completed"`)) {
				return fmt.Errorf("an answer did not complete: %.400s", payload)
			}
			first = true
			notify(c.dones, time.Now())
		case bytes.HasPrefix(payload, typeCreated):
			notify(c.opened, struct{}{})
		case bytes.HasPrefix(payload, typeError):
			return fmt.Errorf("an error came: %s", payload)
		}
	}
}

// notify sends a value to a receiver that waits, if there is one.
func notify[T any](to chan T, value T) {
	select {
	case to <- value:
	default:
	}
}

func readFrame(reader *bufio.Reader) (op byte, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(reader, head[:2]); err != nil {
		return 0, nil, err
	}
	op = head[0] & 0xF
	n := uint64(head[1] & 0x7F)
	switch n {
	case 126:
		if _, err := io.ReadFull(reader, head[:2]); err != nil {
			return 0, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(head[:2]))
	case 127:
		if _, err := io.ReadFull(reader, head[:8]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(head[:8])
	}
	if n <= uint64(reader.Size()) {
		if payload, err = reader.Peek(int(n)); err != nil {
			return 0, nil, err
		}
		_, err = reader.Discard(int(n))
		return op, payload, err // good until the next frame
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(reader, payload)
	return op, payload, err
}

// answerTimes are the times from a question to its answer.
type answerTimes struct{ first, whole time.Duration }

// say says something and waits for the answer.
func (c *chatter) say(ctx context.Context, text string) (answerTimes, error) {
	item := `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text",` +
		`"text":` + strconv.Quote(text) + `}]}}`
	out := append(frameOf(opText, []byte(item)), frameOf(opText, []byte(`{"type":"response.create"}`))...)
	began := time.Now()
	if _, err := c.conn.Write(out); err != nil {
		return answerTimes{}, fmt.Errorf("saying something: %w", err)
	}
	timer := time.NewTimer(answerPatience)
	defer timer.Stop()
	var h answerTimes
	for {
		select {
		case at := <-c.firsts:
			h.first = at.Sub(began)
		case at := <-c.dones:
			h.whole = at.Sub(began)
			if h.first == 0 { // both were there
				select {
				case first := <-c.firsts:
					h.first = first.Sub(began)
				default:
				}
			}
			return h, nil
		case <-c.ended:
			return answerTimes{}, c.err
		case <-timer.C:
			return answerTimes{}, errors.New("no answer came")
		case <-ctx.Done():
			return answerTimes{}, ctx.Err()
		}
	}
}

// close drops the connection; the session goes on without it.
func (c *chatter) close() {
	_ = c.conn.Close() // it may be closed already
	<-c.ended
}
