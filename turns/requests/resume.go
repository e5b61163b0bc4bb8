package requests

import (
	"context"
	"errors"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// broadcast takes a turn and keeps its events while it runs. turn is the one that b is registered
// for; empty: b is registered with its first event.
func (s *Service) broadcast(
	ctx context.Context, b *broadcast, turn sessions.TurnID, take func(context.Context, EmitFunc) error,
) {
	defer b.cancel(nil)
	stop := context.AfterFunc(s.turns.Life(), func() { b.cancel(turns.ErrNodeStopping) })
	defer stop()
	err := take(ctx, func(e Event) error {
		if turn != e.TurnID {
			s.broadcasts.unregister(turn, b)
			turn = e.TurnID
			s.broadcasts.register(turn, b)
		}
		b.add(e)
		return nil
	})
	if errors.Is(err, sessions.ErrLeaseLost) {
		err = turns.ErrTaken
	}
	s.broadcasts.unregister(turn, b)
	b.finish(err)
}

// resumeLost resumes a turn here if its node was lost. Here is true when a broadcast of it can be
// followed on this node from now on.
func (s *Service) resumeLost(ctx context.Context, session sessions.Session, id sessions.TurnID) (here bool, err error) {
	now, err := sessions.Find(ctx, s.db, session.TenantID, session.ID, "")
	if err != nil {
		return false, err
	}
	if now.RunningTurnID != id || !now.AwaitsResume(s.sessions.Now()) {
		return false, nil
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := newBroadcast(session.ID, s.followGrace, cancel)
	if !s.broadcasts.register(id, b) {
		cancel(nil)
		return true, nil
	}
	take := func(ctx context.Context, emit EmitFunc) error {
		_, err := s.resume(ctx, session, id, nil, emit)
		return err
	}
	if !s.turns.TryGo(func() { s.broadcast(running, b, id, take) }) {
		s.broadcasts.unregister(id, b)
		cancel(nil)
		return false, turns.StoppingError("Follow the turn again.")
	}
	return true, nil
}

// resume takes a turn whose node was lost. Its events begin with what is recorded of it. offered
// are the caller's tools; nil: those that it offered when the turn began. Errors: turns.ErrTaken,
// those of Say.
func (s *Service) resume(
	ctx context.Context, session sessions.Session, id sessions.TurnID, offered []model.Tool, emit EmitFunc,
) (sessions.Turn, error) {
	if offered == nil { // who follows a turn does not repeat its request
		var err error
		if offered, err = s.turns.ClientTools(ctx, session, id); err != nil {
			return sessions.Turn{}, err
		}
	}
	stream := &encoder{sender: sender{emit: emit}}
	start := turns.Start{Session: session, Turn: id, Open: true, Resume: true, ClientTools: turns.EncodeClientTools(offered)}
	r := &turns.Runner{
		S: s.turns, Start: start, ResponseID: idgen.New(idgen.Response), Options: turns.Options{ClientTools: offered},
		Approvals: turns.NewApprovals(),
	}
	r.Emit = func(e turns.Event) error {
		if _, started := e.(turns.ResponseStarted); !started {
			return stream.encode(e)
		}
		stream.sent.losses = r.Turn.Losses
		if err := stream.encode(e); err != nil {
			return err
		}
		return stream.replay(r.Turn)
	}
	outcome := r.Run(ctx)
	if errors.Is(outcome.Err, turns.ErrTaken) {
		return outcome.Turn, turns.ErrTaken
	}
	s.turns.DropClientTools(ctx, start)
	return s.finish(ctx, stream, outcome, nil)
}
