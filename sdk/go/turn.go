package parlance

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// StreamTurn says something to the agent and gives the events of its answer as they come; the last
// is turn.done, or an error.
//
//	request := &parlancev1.StreamTurnRequest{SessionId: id, Text: "Hello."}
//	for event, err := range client.StreamTurn(ctx, request) {
//		if err != nil {
//			return err
//		}
//		fmt.Print(event.GetDelta())
//	}
//
// When the connection is lost it is made again for Options.ReconnectFor, and goes on behind the
// last event: none is lost, and none comes twice. When nothing comes for a minute, the service is
// asked whether it is there: one that does not answer is a lost connection too. A second
// turn.started says that the server was lost and another one begins the answer again: what was said
// before it is void.
//
// The words are said once, also when it was not known whether they had arrived, since the request
// has an Idempotency-Key. A request with last_event_id follows the turn of that event. Leaving the
// loop does not stop the answer; SessionService.CancelTurn does. Each loop is a turn of its own.
func (c *Client) StreamTurn(ctx context.Context, request *parlancev1.StreamTurnRequest) iter.Seq2[*parlancev1.StreamTurnResponse, error] {
	return func(yield func(*parlancev1.StreamTurnResponse, error) bool) {
		t := turn{client: c, request: request, from: request.GetLastEventId(), again: c.newReconnect()}
		if keyFrom(ctx) == "" && t.from == "" {
			ctx = WithIdempotencyKey(ctx, newKey())
		}
		t.run(ctx, yield)
	}
}

// FollowTurn gives the events of a turn behind lastEventID, "" for all of them, and reconnects like
// StreamTurn. It takes no turn.
func (c *Client) FollowTurn(ctx context.Context, sessionID, turnID, lastEventID string) iter.Seq2[*parlancev1.StreamTurnResponse, error] {
	return func(yield func(*parlancev1.StreamTurnResponse, error) bool) {
		request := &parlancev1.StreamTurnRequest{SessionId: sessionID}
		t := turn{client: c, request: request, id: turnID, from: lastEventID, again: c.newReconnect()}
		t.run(ctx, yield)
	}
}

// turn is one turn, over as many connections as it takes.
type turn struct {
	client  *Client
	request *parlancev1.StreamTurnRequest
	// from is the event that the caller had seen already.
	from string
	// id and last are the ids of the turn and of the last event; empty before the first.
	id, last string
	again    *reconnect
	// waiting are the calls that wait for a result or an approval, by kind and id. The service tells
	// of them again each time that the turn is followed.
	waiting map[[2]string]bool
	// over is set when turn.done has come or the loop was left.
	over bool
}

func (t *turn) run(ctx context.Context, yield func(*parlancev1.StreamTurnResponse, error) bool) {
	for {
		err := t.receive(ctx, yield)
		if t.over {
			return
		}
		if errors.Is(err, errSilent) && ctx.Err() == nil {
			if err = t.again.probe(ctx, t.ask); err == nil {
				continue
			}
		}
		if t.hasFailed(ctx, err) || !t.again.wait(ctx, err) {
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

// errEndedEarly says that a stream ended without an error and without its last event.
var errEndedEarly = &Error{
	Reason: ReasonUnavailable, Message: "the stream ended before its last event", Code: connect.CodeUnavailable,
}

// receive gives the events of one connection to the loop.
func (t *turn) receive(ctx context.Context, yield func(*parlancev1.StreamTurnResponse, error) bool) error {
	ctx, silence, cancel := t.again.watchSilence(ctx)
	defer cancel() // ends the stream, also when the loop was left
	stream, err := t.open(ctx)
	if err != nil {
		return silenceOr(ctx, err)
	}
	defer func() { _ = stream.Close() }() // stream.Err has its error
	for ; stream.Receive(); silence.goOn() {
		silence.pause()
		event := stream.Msg()
		t.id, t.last = event.GetTurnId(), event.GetEventId()
		t.again.opened()
		t.over = event.GetType() == "turn.done"
		if t.isNew(event) && !yield(event, nil) {
			t.over = true
		}
		if t.over {
			return nil
		}
	}
	// Behind turn.done there is nothing: the caller has seen it already.
	t.over = stream.Err() == nil && t.from != "" && t.last == ""
	return silenceOr(ctx, stream.Err())
}

// isNew reports whether an event does not tell again of a call that waits.
func (t *turn) isNew(event *parlancev1.StreamTurnResponse) bool {
	if event.GetType() == "turn.started" {
		t.waiting = nil
	}
	call := [2]string{event.GetType()}
	switch told := event.GetEvent().(type) {
	case *parlancev1.StreamTurnResponse_ClientToolCalled:
		call[1] = told.ClientToolCalled.GetCall().GetId()
	case *parlancev1.StreamTurnResponse_ApprovalRequested:
		call[1] = told.ApprovalRequested.GetApproval().GetCallId()
	default:
		return true
	}
	if t.waiting[call] {
		return false
	}
	if t.waiting == nil {
		t.waiting = map[[2]string]bool{}
	}
	t.waiting[call] = true
	return true
}

// hasFailed reports whether the turn has failed with the error: a service that is stopping says
// "unavailable" too.
func (t *turn) hasFailed(ctx context.Context, err error) bool {
	refused, ok := errors.AsType[*Error](err)
	if !ok || t.id == "" || !refused.answered || refused.foreign || !isLost(refused) {
		return false
	}
	within, cancel := context.WithTimeout(WithIdempotencyKey(ctx, ""), probeTimeout) // the key is that of the words
	defer cancel()
	turn, err := t.client.Sessions.GetTurn(within, &parlancev1.GetTurnRequest{SessionId: t.request.GetSessionId(), TurnId: t.id})
	return err == nil && turn.GetStatus() == "failed"
}

// ask asks the service for the session, to see whether it answers.
func (t *turn) ask(ctx context.Context) error {
	_, err := t.client.Sessions.GetSession(ctx, &parlancev1.GetSessionRequest{SessionId: t.request.GetSessionId()})
	return err
}

// open says the words, or follows the turn when they are known to have arrived.
func (t *turn) open(ctx context.Context) (*connect.ServerStreamForClient[parlancev1.StreamTurnResponse], error) {
	if t.id == "" {
		return t.client.Sessions.StreamTurn(ctx, proto.CloneOf(t.request))
	}
	// The key is that of the words.
	return t.client.Sessions.FollowTurn(WithIdempotencyKey(ctx, ""), &parlancev1.FollowTurnRequest{
		SessionId: t.request.GetSessionId(), TurnId: t.id, LastEventId: cmp.Or(t.last, t.from),
	})
}
