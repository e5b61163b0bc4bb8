package requests

import (
	"context"
	"errors"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// Say says something to the agent and returns its recorded answer. A pending session begins with
// it. While another turn of the session runs, on any node, it waits. When ctx ends, or emit (nil:
// nobody listens) fails, the answer is stopped, and recorded as cancelled with what was said of it.
// A turn that CancelTurn stopped is no error: its status says so.
//
// Errors: NotFound, Invalid invalid-request, Precondition session-closed, Upstream upstream-failed
// (the turn is recorded as failed; the session goes on), RateLimited rate-limited (too many wait),
// Unavailable unavailable, Canceled canceled, Timeout deadline-exceeded (ctx's deadline passed).
func (s *Service) Say(ctx context.Context, p workspaces.Principal, id sessions.ID, params Params, emit EmitFunc) (sessions.Turn, error) {
	params.turn, params.askedAt = sessions.TurnID(idgen.In(ctx, idgen.Turn)), s.sessions.Now()
	session, err := s.openSession(ctx, p, id, params)
	if err != nil {
		return sessions.Turn{}, err
	}
	left, ok := s.turns.TryEnter()
	if !ok {
		return sessions.Turn{}, turns.StoppingError("Send it again.")
	}
	defer left()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.turns.Life(), func() { cancel(turns.ErrNodeStopping) })()
	leave, err := s.enterQueue(ctx, session)
	if errors.Is(context.Cause(ctx), turns.ErrNodeStopping) {
		return sessions.Turn{}, turns.StoppingError("Send it again.")
	}
	if err != nil {
		return sessions.Turn{}, err
	}
	defer leave()
	if emit == nil {
		emit = func(Event) error { return nil }
	}
	turn, err := s.take(ctx, session, params, emit)
	if errors.Is(err, turns.ErrTaken) || errors.Is(err, sessions.ErrLeaseLost) {
		return s.await(ctx, session, turn.ID, emit)
	}
	return turn, err
}

// await follows a turn that another node answers, and returns it as it was recorded. Errors: those
// of Say, and Unavailable unavailable when the turn failed because that node was lost as well.
func (s *Service) await(ctx context.Context, session sessions.Session, id sessions.TurnID, emit EmitFunc) (turn sessions.Turn, err error) {
	turn.ID = id
	err = s.follow(ctx, session, &follower{sender: sender{turn: id, emit: func(e Event) error {
		if e.Type == EventDone {
			turn = *e.Turn
		}
		return emit(e)
	}}})
	return turn, err
}

// Stream is [Service.Say] for a caller who gets the answer while it is made. When ctx ends or emit
// fails the turn goes on for FollowGrace, so that the caller can come back (Follow); then it is
// cancelled.
func (s *Service) Stream(ctx context.Context, p workspaces.Principal, id sessions.ID, params Params, emit EmitFunc) error {
	params.turn, params.askedAt = sessions.TurnID(idgen.In(ctx, idgen.Turn)), s.sessions.Now()
	session, err := s.openSession(ctx, p, id, params)
	if err != nil {
		return err
	}
	leave, err := s.enterQueue(ctx, session)
	if err != nil {
		return err
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := newBroadcast(id, s.followGrace, cancel)
	stopListening := b.join()
	take := func(ctx context.Context, emit EmitFunc) error {
		_, err := s.take(ctx, session, params, emit)
		return err
	}
	if !s.turns.TryGo(func() { defer leave(); s.broadcast(running, b, "", take) }) {
		leave()
		cancel(nil)
		return turns.StoppingError("Send it again.")
	}
	defer stopListening()
	to := &follower{sender: sender{emit: emit, turn: params.turn}}
	if err := to.play(ctx, b); !errors.Is(err, turns.ErrTaken) {
		return err
	}
	return s.follow(ctx, session, to) // another node answers the turn
}

// openSession is the session that is spoken to. Errors: those of Say.
func (s *Service) openSession(ctx context.Context, p workspaces.Principal, id sessions.ID, params Params) (sessions.Session, error) {
	if err := params.check(s.schemas); err != nil {
		return sessions.Session{}, err
	}
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Session{}, err
	}
	return session, sessions.CheckOpen(session)
}

func (s *Service) enterQueue(ctx context.Context, session sessions.Session) (leave func(), err error) {
	return s.queues.enter(ctx, session, func(ctx context.Context) bool {
		now, err := sessions.Find(ctx, s.db, session.TenantID, session.ID, "")
		return err == nil && (now.Closed() || now.RunningTurnID == "" || !now.RunningUntil.After(s.sessions.Now()))
	})
}

// take takes a turn. A request that is repeated with its Idempotency-Key has the turn's id of the
// first one (see idgen.In): the answer that is there is given again, and a lost turn is resumed.
// Errors: turns.ErrTaken and sessions.ErrLeaseLost when another node answers the turn, those of
// Say.
func (s *Service) take(ctx context.Context, session sessions.Session, params Params, emit EmitFunc) (sessions.Turn, error) {
	stream := &encoder{sender: sender{emit: emit}}
	start := turns.Start{
		Session: session, Turn: params.turn, Said: params.said(), Outputs: params.results(),
		Answered: &[]tools.ClientCall{}, ClientTools: turns.EncodeClientTools(params.ClientTools), Asked: params.askedAt,
	}
	r := &turns.Runner{
		S: s.turns, Start: start, ResponseID: idgen.New(idgen.Response), Options: turns.Options{ClientTools: params.ClientTools},
		Approvals: turns.NewApprovals(), Emit: stream.encode,
	}
	defer func() { s.turns.DropClientTools(ctx, r.Start) }()
	outcome := r.Run(ctx)
	if errors.Is(outcome.Err, turns.ErrExists) {
		existing, err := s.findTurn(ctx, session, r.Start.Turn)
		if err != nil {
			return existing, err
		}
		switch existing.Status {
		case sessions.TurnCompleted:
			stream.turn = existing.ID
			return existing, stream.send(Event{Type: EventDone, Turn: &existing})
		case sessions.TurnInProgress: // its node was lost, or still answers
			turn, err := s.resume(ctx, session, existing.ID, params.ClientTools, emit)
			turn.ID = existing.ID
			return turn, err
		case sessions.TurnFailed, sessions.TurnCancelled: // the request is tried once more
		}
		r.Start.Turn = sessions.TurnID(idgen.New(idgen.Turn))
		outcome = r.Run(ctx)
	}
	return s.finish(ctx, stream, outcome, *start.Answered)
}

// finish sends the last event of a turn.
func (s *Service) finish(ctx context.Context, stream *encoder, outcome turns.Outcome, answered []tools.ClientCall) (sessions.Turn, error) {
	if outcome.Turn.SessionID != "" { // it was begun
		s.onRecorded(outcome.Turn)
		s.traceClientCalls(ctx, answered)
	}
	if err := outcome.Err; err != nil && (!outcome.Stopped || ctx.Err() != nil) {
		return outcome.Turn, err
	}
	return outcome.Turn, stream.send(Event{Type: EventDone, Turn: &outcome.Turn})
}

// traceClientCalls stores the traces of calls that clients have run.
func (s *Service) traceClientCalls(ctx context.Context, calls []tools.ClientCall) {
	if s.tools == nil {
		return
	}
	for _, call := range calls {
		s.tools.TraceClient(context.WithoutCancel(ctx), call)
	}
}
