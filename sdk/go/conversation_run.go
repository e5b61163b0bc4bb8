package parlance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
)

// CloseError is a socket that the service closed for good.
type CloseError struct {
	// Code is the close code, Reason its text: the session's end_reason when it failed.
	Code   int
	Reason string
}

// Error says what was closed.
func (e *CloseError) Error() string {
	return fmt.Sprintf("parlance: the service closed the conversation: %d %s", e.Code, e.Reason)
}

// Close codes behind which the socket is not made again. Source: docs/realtime.md, Closing.
const (
	// statusFailed says that the session has failed, unless its reason is internalError.
	statusFailed   websocket.StatusCode = 1011
	statusReplaced websocket.StatusCode = 4409
	internalError                       = "internal_error"
)

// maxRefusalBytes is as much of a refused handshake's answer as websocket.Dial keeps.
const maxRefusalBytes = 1 << 10

// refusalOf is the error of a handshake that was refused.
func refusalOf(answer *http.Response) *Error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusalBytes))
	if err != nil {
		text = nil
	}
	return problemOf(answer, text)
}

// run reads the conversation over as many connections as it takes.
func (c *Conversation) run(ctx context.Context) {
	defer close(c.finished)
	defer close(c.events)
	again := c.client.newReconnect()
	again.begun = true // with the handshake
	for first := true; ; first = false {
		err := c.receive(ctx, again, first)
		c.mu.Lock()
		conn := c.conn
		c.conn = nil
		c.outbox.lost()
		c.mu.Unlock()
		_ = conn.CloseNow() // it is lost
		if c.end(ctx, err) {
			return
		}
		lost := &Error{Reason: ReasonUnavailable, Message: "the connection was lost", cause: err}
		if err := c.reopen(ctx, again, lost); err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.closed {
				c.err = err
			}
			return
		}
	}
}

// receive gives the events of one connection to the loop, until it is lost.
func (c *Conversation) receive(ctx context.Context, again *reconnect, first bool) error {
	for greeted := false; ; greeted = true {
		c.mu.Lock()
		conn := c.conn
		c.mu.Unlock()
		text, err := c.read(ctx, conn, greeted)
		if err != nil {
			return err
		}
		event, err := readEvent(text)
		if err != nil {
			return err
		}
		again.opened()
		if !greeted && !first {
			c.restore() // the service knows this client again
		}
		if !greeted && c.created {
			continue
		}
		c.created = true
		c.mu.Lock()
		internal := c.outbox.take(&event)
		// Sound is not kept for a client that was away: there is nothing behind it to ask for.
		if event.ID != "" && event.Type != audioDelta {
			c.last = event.ID
		}
		c.mu.Unlock()
		if internal {
			continue
		}
		select {
		case c.events <- event:
		case <-c.closing:
		}
	}
}

// read reads an event. A connection that brings nothing, not even a ping, is lost: one that was
// made just now after a shorter time.
func (c *Conversation) read(ctx context.Context, conn *socket, greeted bool) ([]byte, error) {
	limit := c.client.silence
	if !greeted {
		limit = min(limit, socketTimeout)
	}
	conn.silent.Reset(limit)
	defer conn.silent.Stop()
	_, text, err := conn.Read(ctx)
	return text, err
}

// restore sends again what another server does not know, and what may have been lost.
func (c *Conversation) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.settings {
		_ = c.writeText(text) // the reader notices a lost connection
	}
	c.outbox.opened()
}

// end reports whether the conversation is over after a connection ended with err, and why.
func (c *Conversation) end(ctx context.Context, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || ctx.Err() != nil {
		return true
	}
	closed, ok := errors.AsType[websocket.CloseError](err)
	if !ok {
		return false
	}
	switch {
	case closed.Code == websocket.StatusNormalClosure:
		c.ending = closed.Reason
		if c.ending == "" {
			c.ending = "completed"
		}
	case closed.Code == statusFailed && closed.Reason != internalError:
		c.ending, c.err = closed.Reason, &CloseError{Code: int(closed.Code), Reason: closed.Reason}
	case closed.Code == websocket.StatusPolicyViolation, closed.Code == statusReplaced,
		closed.Code == websocket.StatusMessageTooBig: // it would be sent again
		c.err = &CloseError{Code: int(closed.Code), Reason: closed.Reason}
	default:
		return false
	}
	return true
}

// reopen makes the connection again after it was lost.
func (c *Conversation) reopen(ctx context.Context, again *reconnect, lost error) error {
	for err := lost; ; {
		if !again.wait(ctx, err) {
			return err
		}
		c.mu.Lock()
		last := c.last
		c.mu.Unlock()
		conn, failed := c.dial(ctx, last)
		if failed == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.closed {
				_ = conn.Close(websocket.StatusNormalClosure, "hang_up") // the loop ends with the next read
			}
			c.conn = conn
			return nil
		}
		err = failed
	}
}
