package client

import (
	"context"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
)

// EventStream follows the events of a workspace, and reconnects when the connection breaks.
type EventStream struct {
	Caller *Caller
	// After is the cursor to begin after; "" begins with what comes. Events are names; empty is all.
	After  string
	Events []string
	// Ready is called when the stream is open; again is false the first time.
	Ready func(again bool) error
	// Event is called for each event, one after the other. Its error ends the stream.
	Event func(*parlancev1.Event) error
	// JSON says that the output is for programs: a broken connection is not mentioned.
	JSON bool
}

// Follow returns when ctx ends, or with an error that another connection would not mend.
func (s *EventStream) Follow(ctx context.Context) error {
	client, err := s.Caller.SDK(s.Caller.HTTP, func(o *parlance.Options) { o.OnReconnect = s.lost })
	if err != nil {
		return err
	}
	opened := false
	for answer, err := range client.WatchEvents(ctx, &parlancev1.WatchEventsRequest{
		WorkspaceId: s.Caller.WorkspaceID, After: s.After, Events: s.Events, Announce: true,
	}) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return s.Caller.Explain("read the events", err)
		case answer.GetEvent() != nil:
			err = s.Event(answer.GetEvent())
		default:
			err = s.Ready(opened)
			opened = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *EventStream) lost(error) {
	if !s.JSON {
		s.Caller.Screen.Line("%s", s.Caller.Screen.Dim("  the connection broke; trying again"))
	}
}
