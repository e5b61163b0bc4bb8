package conversation

import (
	"context"
	"errors"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/tools"
)

// A turn without a socket whose node was lost is answered again by whoever asks for it, on any node: who
// follows it, or repeats its request with the same Idempotency-Key. A socket of its session does too, as
// with turns of its own (lost.go). What its calls came to is kept; without calls it is answered anew.
//
//	running ──lease over──► awaited ──► running (another answer, where it is followed)
//	                           │ nobody asks for againGrace
//	                           └──► failed
//
// An awaited turn looks like one that runs, but for its lease. Nothing else of the session is answered before.

// againGrace is how long a lost turn waits for those who ask for it: clients come back within seconds.
const againGrace = 10 * time.Second

// errTaken says that a lost turn is answered elsewhere, or is over.
var errTaken = errors.New("the lost turn is taken already")

// awaited says that the turn that runs was lost, and left to those who ask for it.
func (s *Session) awaited(now time.Time) bool {
	return s.RunningTurnID != "" && s.RunningResponseID == "" && s.EndingAt.IsZero() &&
		!s.RunningUntil.After(now) && s.RunningUntil.Add(againGrace).After(now)
}

// answerAgain answers a lost turn here. Here is true when its events can be heard from now on.
func (s *Service) answerAgain(ctx context.Context, session Session, id TurnID) (here bool, err error) {
	now, err := selectSession(ctx, s.db, session.TenantID, session.ID, "")
	if err != nil {
		return false, err
	}
	if now.RunningTurnID != id || !now.awaited(s.moment()) {
		return false, nil
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &broadcast{session: session.ID, grace: s.followGrace, cancel: cancel, news: make(chan struct{})}
	if !s.announce(b, id) {
		cancel(nil)
		return true, nil
	}
	say := func(ctx context.Context, emit func(StreamEvent) error) (Turn, error) {
		return s.sayAgain(ctx, session, id, TurnParams{}, emit)
	}
	if !s.goLate(func() { s.broadcast(running, b, say) }) {
		s.announce(b, "")
		cancel(nil)
		return false, fault.New(fault.ServiceUnavailable, "This node is being stopped. Follow the turn again.")
	}
	return true, nil
}

// sayAgain is say for a lost turn; its events begin with what is kept of it. Of params, what the caller
// offers is read. Errors: errTaken, those of Say.
func (s *Service) sayAgain(ctx context.Context, session Session, id TurnID, params TurnParams, emit func(StreamEvent) error) (Turn, error) {
	stream := &turnStream{emit: emit}
	r := &runner{
		s: s, responseID: idgen.New(idgen.Response), options: options{clientTools: params.ClientTools},
		start: turnStart{tenant: session.TenantID, session: session.ID, turn: id, open: true, again: true},
	}
	r.emit = func(e Event) error {
		if _, begun := e.(ResponseStarted); !begun {
			return stream.take(e)
		}
		stream.place.losses = r.turn.Losses
		if err := stream.take(e); err != nil {
			return err
		}
		return stream.keep(r.turn)
	}
	went := r.run(ctx)
	if errors.Is(went.err, errTaken) {
		return went.turn, errTaken
	}
	return s.said(ctx, stream, went, []tools.ClientCall{})
}

// keep tells of what a turn has before it is answered again.
func (t *turnStream) keep(turn Turn) error {
	if text := agentText(turn.Messages); text != "" {
		t.said = true
		if err := t.send(StreamEvent{Type: StreamDelta, Delta: text}); err != nil {
			return err
		}
	}
	for _, call := range turn.ToolCalls() {
		if call.Output == "" {
			continue
		}
		if err := t.send(StreamEvent{Type: StreamToolCall, ToolCall: &call}); err != nil {
			return err
		}
	}
	return nil
}
