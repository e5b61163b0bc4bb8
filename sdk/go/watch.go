package parlance

import (
	"context"
	"errors"
	"iter"

	"google.golang.org/protobuf/proto"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// WatchEvents gives the events of a workspace as they happen, from behind the request's cursor on,
// or from now on without one. When the connection is lost it is made again, for as long as the
// context lives, and goes on behind the last event: none is lost, and none comes twice. Store the
// cursor of the last answer to go on from there another time.
//
// A request with announce also gets an answer without an event each time the stream is open. The
// loop ends with an error that another connection would not mend, as ReasonEventsCursorExpired, or
// when the first connection cannot be made.
func (c *Client) WatchEvents(
	ctx context.Context, request *parlancev1.WatchEventsRequest,
) iter.Seq2[*parlancev1.WatchEventsResponse, error] {
	return func(yield func(*parlancev1.WatchEventsResponse, error) bool) {
		w := watch{client: c, announce: request.GetAnnounce(), next: proto.CloneOf(request), again: c.newReconnect()}
		w.next.Announce = true // names the place to come back to before anything has happened
		w.run(ctx, yield)
	}
}

// watch is a feed of events over as many connections as it takes.
type watch struct {
	client   *Client
	announce bool
	next     *parlancev1.WatchEventsRequest
	again    *reconnect
	left     bool
}

func (w *watch) run(ctx context.Context, yield func(*parlancev1.WatchEventsResponse, error) bool) {
	for {
		err := w.receive(ctx, yield)
		if w.left {
			return
		}
		if errors.Is(err, errSilent) && ctx.Err() == nil {
			if err = w.again.probe(ctx, w.ask); err == nil {
				continue
			}
		}
		again := w.again.wait
		if err != nil && !w.again.forever { // it was never open
			again = w.again.retries.wait
		}
		if !again(ctx, err) {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			} else if err == nil {
				err = errEndedEarly
			}
			yield(nil, err)
			return
		}
	}
}

func (w *watch) receive(ctx context.Context, yield func(*parlancev1.WatchEventsResponse, error) bool) error {
	ctx, silence, cancel := w.again.watchSilence(ctx)
	defer cancel()
	stream, err := w.client.Webhooks.WatchEvents(ctx, w.next)
	if err != nil {
		return silenceOr(ctx, err)
	}
	defer func() { _ = stream.Close() }() // stream.Err has its error
	for ; stream.Receive(); silence.goOn() {
		silence.pause()
		w.again.opened()
		w.again.forever = w.client.options.ReconnectFor > 0
		answer := stream.Msg()
		w.next.After, w.next.LastEventId = answer.GetCursor(), ""
		if answer.GetEvent() == nil && !w.announce {
			continue
		}
		if !yield(answer, nil) {
			w.left = true
			return nil
		}
	}
	return silenceOr(ctx, stream.Err())
}

// ask asks the service for the events in another way, to see whether it answers.
func (w *watch) ask(ctx context.Context) error {
	_, err := w.client.Webhooks.ListEvents(ctx, &parlancev1.ListEventsRequest{WorkspaceId: w.next.GetWorkspaceId(), PageSize: 1})
	return err
}
