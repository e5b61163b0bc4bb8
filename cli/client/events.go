package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/ticker"
)

// streamPause is the first pause before reconnecting. It doubles up to streamPauseMost.
const streamPause, streamPauseMost = 500 * time.Millisecond, 10 * time.Second

// EventStream follows the events of a workspace, and reconnects when the connection breaks.
type EventStream struct {
	Caller  *Caller
	Service parlancev1connect.WebhookServiceClient
	// After is the cursor to begin after; "" begins with what comes. Events are names; empty is all.
	After  string
	Events []string
	// Ready is called when the stream is open; again is false the first time.
	Ready func(again bool) error
	// Event is called for each event, one after the other. Its error ends the connection.
	Event func(*parlancev1.Event) error
	// JSON says that the output is for programs: a broken connection is not mentioned.
	JSON bool

	pause  time.Duration
	opened bool
}

// Follow returns when ctx ends, or with an error that another connection would not mend.
func (s *EventStream) Follow(ctx context.Context) error {
	s.pause = streamPause
	for {
		err := s.receive(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		expired := connect.CodeOf(err) == connect.CodeFailedPrecondition // events-cursor-expired: they do not come back
		if !s.opened || expired || IsFinal(err) {
			return s.Caller.Explain("read the events", err)
		}
		if !s.JSON {
			s.Caller.Screen.Line("%s", s.Caller.Screen.Dim(fmt.Sprintf("  the connection broke; trying again in %s", s.pause)))
		}
		if err := ticker.Wait(ctx, s.pause); err != nil {
			return err
		}
		s.pause = min(2*s.pause, streamPauseMost)
	}
}

// receive reads the stream until it breaks.
func (s *EventStream) receive(ctx context.Context) error {
	stream, err := s.Service.WatchEvents(ctx, &parlancev1.WatchEventsRequest{
		WorkspaceId: s.Caller.WorkspaceID, After: s.After, Events: s.Events, Announce: true,
	})
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // stream.Err returned its error
	for stream.Receive() {
		if event := stream.Msg().GetEvent(); event != nil {
			err = s.Event(event)
		} else {
			again := s.opened
			s.opened = true
			err = s.Ready(again)
		}
		if err != nil {
			return err
		}
		s.After, s.pause = stream.Msg().GetCursor(), streamPause
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return connect.NewError(connect.CodeUnavailable, errors.New("the service ended the stream"))
}
