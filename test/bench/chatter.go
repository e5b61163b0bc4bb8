package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"parlance.dev/parlance/test/bench/rig"
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
	conn, reader, err := rig.Dial(ctx, chatURL, 4096)
	if err != nil {
		return nil, err
	}
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
		op, payload, err := rig.ReadFrame(reader)
		if err != nil {
			return err
		}
		switch {
		case op == rig.OpPing:
			if _, err := c.conn.Write(rig.Frame(rig.OpPong, payload)); err != nil {
				return fmt.Errorf("answering a ping: %w", err)
			}
		case op == rig.OpClose:
			if len(payload) < 2 {
				return errors.New("closed without a code")
			}
			return fmt.Errorf("closed with %d %s", binary.BigEndian.Uint16(payload), payload[2:])
		case op != rig.OpText:
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

// answerTimes are the times from a question to its answer.
type answerTimes struct{ first, whole time.Duration }

// say says something and waits for the answer.
func (c *chatter) say(ctx context.Context, text string) (answerTimes, error) {
	item := `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text",` +
		`"text":` + strconv.Quote(text) + `}]}}`
	out := append(rig.Frame(rig.OpText, []byte(item)), rig.Frame(rig.OpText, []byte(`{"type":"response.create"}`))...)
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
