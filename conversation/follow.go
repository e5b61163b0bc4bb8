package conversation

import (
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// A turn that is streamed belongs to nobody's connection:
//
//	Stream ──► broadcast ──► who asked; whoever follows it on this node (Follow)
//	               └── nobody listens for FollowGrace ──► it is cancelled
//
// The events are kept while it runs. Afterwards, and on other nodes, its row says what has not been
// heard yet: an event's id holds how much has (place).

// FollowGrace is how long a streamed turn goes on while nobody listens.
const FollowGrace = 30 * time.Second

// errUnheard is why a streamed turn was stopped that nobody came back to.
var errUnheard = errors.New("nobody listened to the answer any more")

// broadcast is a streamed turn that runs on this node.
type broadcast struct {
	session ID
	grace   time.Duration
	cancel  context.CancelCauseFunc

	mu        sync.Mutex
	events    []StreamEvent
	news      chan struct{} // closed when there is something new, and replaced
	over      bool
	err       error
	listeners int
	alone     *time.Timer
}

func (b *broadcast) tell(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	close(b.news)
	b.news = make(chan struct{})
}

func (b *broadcast) finish(err error) {
	b.tell(func() { b.over, b.err = true, err })
}

// join counts a listener; leave takes it off, and the last one's leaving begins the grace.
func (b *broadcast) join() (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners++
	if b.alone != nil {
		b.alone.Stop()
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.listeners--; b.listeners == 0 && !b.over {
			b.alone = time.AfterFunc(b.grace, func() { b.cancel(errUnheard) })
		}
	}
}

// hear hands the events from the next one on to emit until the turn is over, and returns how it went.
func (b *broadcast) hear(ctx context.Context, next int, emit func(StreamEvent) error) error {
	for {
		b.mu.Lock()
		news, over, err := b.news, b.over, b.err
		fresh := b.events[min(next, len(b.events)):]
		b.mu.Unlock()
		for _, e := range fresh {
			if err := emit(e); err != nil {
				return errGone(err)
			}
		}
		next += len(fresh)
		if over {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Stream is [Service.Say] for a caller who hears the answer while it is made. When ctx ends or emit
// fails the turn goes on for FollowGrace, so that the caller can come back (Follow); then it is cancelled.
func (s *Service) Stream(ctx context.Context, p workspaces.Principal, id ID, params TurnParams, emit func(StreamEvent) error) error {
	session, err := s.sayTo(ctx, p, id, params)
	if err != nil {
		return err
	}
	leave, err := s.queueTurn(ctx, session)
	if err != nil {
		return err
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &broadcast{session: id, grace: s.followGrace, cancel: cancel, news: make(chan struct{})}
	unhear := b.join()
	if !s.goLate(func() { defer leave(); s.broadcast(running, session, params, b) }) {
		leave()
		cancel(nil)
		return fault.New(fault.ServiceUnavailable, "This node is being stopped. Send it again.")
	}
	defer unhear()
	return b.hear(ctx, 0, emit)
}

// broadcast takes the turn and keeps its events while it runs.
func (s *Service) broadcast(ctx context.Context, session Session, params TurnParams, b *broadcast) {
	defer b.cancel(nil)
	stop := context.AfterFunc(s.live, func() { b.cancel(context.Canceled) })
	defer stop()
	var turn TurnID
	_, err := s.say(ctx, session, params, func(e StreamEvent) error {
		if turn != e.TurnID {
			s.announce(turn, e.TurnID, b)
			turn = e.TurnID
		}
		b.tell(func() { b.events = append(b.events, e) })
		return nil
	})
	b.finish(err)
	s.announce(turn, "", nil)
}

// announce makes a turn's events be found by its id.
func (s *Service) announce(old, turn TurnID, b *broadcast) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.broadcasts, old)
	if turn != "" {
		s.broadcasts[turn] = b
	}
}

// Follow hands the events of a turn that come after lastEventID (empty: all) to emit, until it is over.
// Errors: NotFound, Invalid invalid-request (the id of another turn's event), how the turn ended.
func (s *Service) Follow(ctx context.Context, p workspaces.Principal, id ID, turnID TurnID, lastEventID string, emit func(StreamEvent) error) error {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return err
	}
	var heard place
	if lastEventID != "" {
		var of TurnID
		if of, heard, err = readPlace(lastEventID); err != nil || of != turnID {
			return fault.InvalidField("last_event_id", "format", "Give the id of an event of this turn as it came; %q is none.", lastEventID)
		}
	}
	s.mu.Lock()
	b := s.broadcasts[turnID]
	s.mu.Unlock()
	if b != nil && b.session == id {
		leave := b.join()
		defer leave()
		return b.hear(ctx, heard.events, emit)
	}
	return s.followRow(ctx, session, turnID, &rowStream{emit: emit, turn: turnID, heard: heard})
}

// followRow follows a turn by what is recorded of it.
func (s *Service) followRow(ctx context.Context, session Session, id TurnID, to *rowStream) error {
	ticker := time.NewTicker(followPoll)
	defer ticker.Stop()
	for {
		turn, err := selectTurn(ctx, s.db, session, id)
		if err != nil {
			return err
		}
		if err := to.take(turn); err != nil || turn.Status != TurnInProgress {
			return err
		}
		select {
		case <-ticker.C:
		case <-s.live.Done():
			return fault.New(fault.ServiceUnavailable, "This node is being stopped. Follow the turn again.")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rowStream tells of a recorded turn what has not been heard.
type rowStream struct {
	emit  func(StreamEvent) error
	turn  TurnID
	heard place
}

func (r *rowStream) send(e StreamEvent) error {
	r.heard.pass(e)
	e.TurnID, e.ID = r.turn, r.heard.id(r.turn)
	if err := r.emit(e); err != nil {
		return errGone(err)
	}
	return nil
}

// errGone says that who listened has gone.
func errGone(err error) error {
	return fault.Wrap(err, fault.CallerCanceled, "The caller has gone; the turn goes on without it.")
}

// take sends what the turn has more than was heard; when it is over, how it ended.
func (r *rowStream) take(turn Turn) error {
	if r.heard.events == 0 {
		if err := r.send(StreamEvent{Type: StreamStarted}); err != nil {
			return err
		}
	}
	if rest := unheard(agentText(turn.Messages), r.heard.bytes); rest != "" {
		if err := r.send(StreamEvent{Type: StreamDelta, Delta: rest}); err != nil {
			return err
		}
	}
	seen := 0
	for _, call := range turn.ToolCalls() {
		if call.Output == "" {
			continue
		}
		if seen++; seen <= r.heard.calls {
			continue
		}
		if err := r.send(StreamEvent{Type: StreamToolCall, ToolCall: &call}); err != nil {
			return err
		}
	}
	switch turn.Status {
	case TurnInProgress:
		return nil
	case TurnFailed:
		return fault.New(fault.Reason(turn.ErrorCode), "%s", turn.ErrorMessage)
	}
	return r.send(StreamEvent{Type: StreamDone, Turn: &turn})
}

// unheard is the text behind its first bytes, whole characters only.
func unheard(text string, bytes int) string {
	if bytes >= len(text) || !utf8.RuneStart(text[bytes]) {
		return ""
	}
	return text[bytes:]
}

// GetTurn is one turn of a session. Errors: NotFound.
func (s *Service) GetTurn(ctx context.Context, p workspaces.Principal, id ID, turnID TurnID) (Turn, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return Turn{}, err
	}
	return selectTurn(ctx, s.db, session, turnID)
}

// Cancel stops a turn that is being answered, on whatever node, and returns it recorded; one that
// nobody answers is returned as it is. Errors: NotFound.
func (s *Service) Cancel(ctx context.Context, p workspaces.Principal, id ID, turnID TurnID) (Turn, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return Turn{}, err
	}
	turn, err := selectTurn(ctx, s.db, session, turnID)
	if err != nil || turn.Status != TurnInProgress || session.RunningTurnID != turnID {
		return turn, err
	}
	s.stopTurn(turnID)
	if err := notify(ctx, s.db, notice{Kind: noticeStop, Session: id, Turn: turnID}); err != nil {
		return Turn{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, EndGrace)
	defer cancel()
	ticker := time.NewTicker(endPoll)
	defer ticker.Stop()
	for turn.Status == TurnInProgress {
		select {
		case <-ticker.C:
		case <-waiting.Done():
			return turn, ctx.Err() // its node is lost: the sweep fails it
		}
		if turn, err = selectTurn(ctx, s.db, session, turnID); err != nil {
			return Turn{}, err
		}
	}
	return turn, nil
}

// stopTurn cancels a turn if it runs on this node.
func (s *Service) stopTurn(turn TurnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.running[turn]; l != nil {
		l.cancel(errStopped)
	}
}
