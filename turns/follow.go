package turns

import (
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// A turn that is streamed belongs to nobody's connection:
//
//	Stream ──► broadcast ──► who asked; whoever follows it on this node (Follow)
//	               └── nobody listens for FollowGrace ──► it is cancelled
//
// The events are kept while it runs. Afterwards, and on other nodes, its row says what has not been
// heard yet: an event's id holds how much has (place). Its node is told that the row is followed,
// and tells when it has changed. A turn whose node was lost is answered again here: again.go.

const (
	// FollowGrace is how long a streamed turn goes on while nobody listens.
	FollowGrace = 30 * time.Second
	// followPoll is how often the row of a turn is looked at although nobody says that it has
	// changed: news may be lost, and a lost node has none.
	followPoll = time.Second
)

// errUnheard is why a streamed turn was stopped that nobody came back to.
var errUnheard = errors.New("nobody listened to the answer any more")

// Broadcast is a streamed turn that runs on this node.
type Broadcast struct {
	session sessions.ID
	// turn is the one that runs; empty before it has begun. The service's lock guards it.
	turn   sessions.TurnID
	grace  time.Duration
	cancel context.CancelCauseFunc

	mu        sync.Mutex
	events    []StreamEvent
	news      chan struct{} // closed when there is something new, and replaced
	over      bool
	err       error
	listeners int
	alone     *time.Timer
}

func (b *Broadcast) tell(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	close(b.news)
	b.news = make(chan struct{})
}

func (b *Broadcast) finish(err error) {
	b.tell(func() { b.over, b.err = true, err })
}

// join counts a listener; leave takes it off, and the last one's leaving begins the grace.
func (b *Broadcast) join() (leave func()) {
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

// hear hands the events from the next one on to emit until the turn is over, and returns how it
// went.
func (b *Broadcast) hear(ctx context.Context, next int, emit func(StreamEvent) error) error {
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
// fails the turn goes on for FollowGrace, so that the caller can come back (Follow); then it is
// cancelled.
func (s *Service) Stream(ctx context.Context, p workspaces.Principal, id sessions.ID, params TurnParams, emit func(StreamEvent) error) error {
	params.asked = s.sessions.Now()
	session, err := s.sayTo(ctx, p, id, params)
	if err != nil {
		return err
	}
	leave, err := s.queueTurn(ctx, session)
	if err != nil {
		return err
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &Broadcast{session: id, grace: s.followGrace, cancel: cancel, news: make(chan struct{})}
	unhear := b.join()
	say := func(ctx context.Context, emit func(StreamEvent) error) (sessions.Turn, error) {
		return s.say(ctx, session, params, emit)
	}
	if !s.goLate(func() { defer leave(); s.broadcast(running, b, say) }) {
		leave()
		cancel(nil)
		return fault.New(fault.ServiceUnavailable, "This node is being stopped. Send it again.")
	}
	defer unhear()
	to := &rowStream{emit: emit}
	if err := to.hear(ctx, b); !errors.Is(err, ErrTaken) {
		return err
	}
	return s.follow(ctx, session, to) // this node was taken for lost
}

// broadcast takes a turn and keeps its events while it runs.
func (s *Service) broadcast(ctx context.Context, b *Broadcast, take func(context.Context, func(StreamEvent) error) (sessions.Turn, error)) {
	defer b.cancel(nil)
	stop := context.AfterFunc(s.live, func() { b.cancel(context.Canceled) })
	defer stop()
	_, err := take(ctx, func(e StreamEvent) error {
		if b.turn != e.TurnID {
			s.announce(b, e.TurnID)
		}
		b.tell(func() { b.events = append(b.events, numbered(e)) })
		return nil
	})
	if errors.Is(err, sessions.ErrLeaseLost) {
		err = ErrTaken
	}
	s.announce(b, "")
	b.finish(err)
}

// announce makes a turn's events be found by its id, until another one or none takes its place.
// False when another broadcast of it is there.
func (s *Service) announce(b *Broadcast, turn sessions.TurnID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if turn != "" && s.broadcasts[turn] != nil {
		return false
	}
	delete(s.broadcasts, b.turn)
	b.turn = turn
	if turn != "" {
		s.broadcasts[turn] = b
	}
	return true
}

func (s *Service) broadcastOf(session sessions.ID, turn sessions.TurnID) *Broadcast {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.broadcasts[turn]; b != nil && b.session == session {
		return b
	}
	return nil
}

// Follow hands the events of a turn that come after lastEventID (empty: all) to emit, until it is
// over; after turn.done there are none. A second turn.started says that the turn's node was lost
// and that its events begin anew. Errors: NotFound, Invalid invalid-request (the id of another
// turn's event), how the turn ended.
func (s *Service) Follow(ctx context.Context, p workspaces.Principal, id sessions.ID, turnID sessions.TurnID, lastEventID string, emit func(StreamEvent) error) error {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return err
	}
	var heard place
	if lastEventID != "" {
		var of sessions.TurnID
		if of, heard, err = readPlace(lastEventID); err != nil || of != turnID {
			return fault.InvalidField("last_event_id", "format", "Give the id of an event of this turn as it came; %q is none.", lastEventID)
		}
	}
	if ofDone(lastEventID) {
		if turn, err := sessions.FindTurn(ctx, s.db, session, turnID); err != nil || turn.Status != sessions.TurnInProgress {
			return err
		}
	}
	return s.follow(ctx, session, &rowStream{emit: emit, turn: turnID, heard: heard})
}

func (s *Service) follow(ctx context.Context, session sessions.Session, to *rowStream) error {
	for {
		if b := s.broadcastOf(session.ID, to.turn); b != nil {
			if err := to.hear(ctx, b); !errors.Is(err, ErrTaken) {
				return err
			}
		}
		over, err := s.followRow(ctx, session, to)
		if over || err != nil {
			return err
		}
	}
}

// followRow follows a turn by what is recorded of it, until it is over or a broadcast of it is
// here.
func (s *Service) followRow(ctx context.Context, session sessions.Session, to *rowStream) (over bool, err error) {
	news, unfollow := s.awaitNews(to.turn)
	defer unfollow()
	told := false
	ticker := time.NewTicker(followPoll)
	defer ticker.Stop()
	for {
		turn, err := sessions.FindTurn(ctx, s.db, session, to.turn)
		if err != nil {
			return false, err
		}
		if err := to.take(turn); err != nil || turn.Status != sessions.TurnInProgress {
			return true, err
		}
		if turn.HasOpenCalls() {
			waiting, err := selectWaiting(ctx, s.db, turn, s.sessions.Now())
			if err != nil {
				return false, err
			}
			if err := to.ask(waiting); err != nil {
				return true, err
			}
		}
		if !told { // and look again: it may have changed before its node knew
			told = true
			if err := sessions.Notify(ctx, s.db, sessions.Notice{Kind: sessions.NoticeFollow, Session: session.ID, Turn: to.turn}); err != nil {
				return false, err
			}
			continue
		}
		if here, err := s.answerAgain(ctx, session, to.turn); here || err != nil {
			return false, err
		}
		select {
		case <-news:
		case <-ticker.C:
		case <-s.live.Done():
			return false, fault.New(fault.ServiceUnavailable, "This node is being stopped. Follow the turn again.")
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// awaitNews is told when the row of a turn has changed.
func (s *Service) awaitNews(turn sessions.TurnID) (news <-chan struct{}, unfollow func()) {
	woken := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followers[turn] == nil {
		s.followers[turn] = map[chan struct{}]bool{}
	}
	s.followers[turn][woken] = true
	return woken, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.followers[turn], woken); len(s.followers[turn]) == 0 {
			delete(s.followers, turn)
		}
	}
}

// WakeFollowers has those who follow the turn look at it; all of them when turn is empty.
func (s *Service) WakeFollowers(turn sessions.TurnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for followed, woken := range s.followers {
		if turn != "" && turn != followed {
			continue
		}
		for one := range woken {
			select {
			case one <- struct{}{}:
			default: // it will look
			}
		}
	}
}

// MarkFollowed notes that a turn is followed that runs here, if it does.
func (s *Service) MarkFollowed(turn sessions.TurnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.running[turn]; l != nil {
		l.followed = true
	}
}

// tellFollowers says that the row of a turn of this node has changed, when somebody wants to know.
func (s *Service) tellFollowers(turn sessions.TurnID) {
	s.mu.Lock()
	l := s.running[turn]
	wanted := l != nil && l.followed
	s.mu.Unlock()
	if !wanted {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.live), sessions.WriteTimeout)
	defer cancel()
	if err := sessions.Notify(ctx, s.db, sessions.Notice{Kind: sessions.NoticeNews, Session: l.session, Turn: turn}); err != nil {
		s.log.WarnContext(ctx, "followers of a turn not told", "session_id", l.session, "turn_id", turn, "error", err) // they look by themselves
	}
}

// rowStream tells of a recorded turn what has not been heard.
type rowStream struct {
	emit  func(StreamEvent) error
	turn  sessions.TurnID
	heard place
	// asked are the calls whose approval it has asked for.
	asked map[string]bool
}

// ask tells of the calls that wait for approval, each once: who comes back is asked again.
func (r *rowStream) ask(waiting []sessions.Approval) error {
	for _, one := range waiting {
		if r.asked[one.CallID] {
			continue
		}
		if r.asked == nil {
			r.asked = map[string]bool{}
		}
		r.asked[one.CallID] = true
		if err := r.send(StreamEvent{Type: StreamApproval, Approval: &one}); err != nil {
			return err
		}
	}
	return nil
}

func (r *rowStream) send(e StreamEvent) error {
	r.heard.pass(e)
	e.TurnID, e.ID = r.turn, r.heard.id(r.turn)
	if err := r.emit(numbered(e)); err != nil {
		return errGone(err)
	}
	return nil
}

// errGone says that who listened has gone.
func errGone(err error) error {
	return fault.Wrap(err, fault.CallerCanceled, "The caller has gone; the turn goes on without it.")
}

// hear passes on what a broadcast has more.
func (r *rowStream) hear(ctx context.Context, b *Broadcast) error {
	leave := b.join()
	defer leave()
	return b.hear(ctx, b.after(r.turn, r.heard), func(e StreamEvent) error {
		if turn, heard, err := readPlace(e.ID); err == nil {
			r.turn, r.heard = turn, heard
		}
		return r.emit(e)
	})
}

// after is the first event that somebody has not who heard so much, from here or from the turn's
// row, where pieces are longer.
func (b *Broadcast) after(turn sessions.TurnID, heard place) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := heard.events; n > 0 && n <= len(b.events) && b.events[n-1].ID == heard.id(turn) {
		return n
	}
	next := 0
	for i, e := range b.events {
		_, at, err := readPlace(e.ID)
		if err != nil || at.losses != heard.losses {
			return 0
		}
		if heard.events > 0 && e.Type != StreamDone && e.Type != StreamClientCall && e.Type != StreamApproval && at.bytes <= heard.bytes && at.calls <= heard.calls {
			next = i + 1
		}
	}
	return next
}

// take sends what the turn has more than was heard; when it is over, how it ended.
func (r *rowStream) take(turn sessions.Turn) error {
	if turn.Losses != r.heard.losses {
		r.heard = place{losses: turn.Losses}
	}
	if r.heard.events == 0 {
		if err := r.send(StreamEvent{Type: StreamStarted}); err != nil {
			return err
		}
	}
	if rest := unheard(sessions.AgentText(turn.Messages), r.heard.bytes); rest != "" {
		if err := r.send(StreamEvent{Type: StreamDelta, Delta: rest}); err != nil {
			return err
		}
	}
	seen := 0
	for _, call := range turn.ToolCalls() {
		if !call.Settled {
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
	case sessions.TurnInProgress:
		return nil
	case sessions.TurnFailed:
		return fault.New(fault.Reason(turn.ErrorCode), "%s", turn.ErrorMessage)
	}
	for _, call := range turn.OpenClientCalls() { // each time: a place does not say which of them were heard
		if err := r.send(StreamEvent{Type: StreamClientCall, ToolCall: &call}); err != nil {
			return err
		}
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
func (s *Service) GetTurn(ctx context.Context, p workspaces.Principal, id sessions.ID, turnID sessions.TurnID) (sessions.Turn, error) {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Turn{}, err
	}
	return sessions.FindTurn(ctx, s.db, session, turnID)
}

// Cancel stops a turn that is being answered, on whatever node, and returns it recorded; one that
// nobody answers is returned as it is. Errors: NotFound.
func (s *Service) Cancel(ctx context.Context, p workspaces.Principal, id sessions.ID, turnID sessions.TurnID) (sessions.Turn, error) {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Turn{}, err
	}
	turn, err := sessions.FindTurn(ctx, s.db, session, turnID)
	if err != nil || turn.Status != sessions.TurnInProgress || session.RunningTurnID != turnID {
		return turn, err
	}
	s.StopTurn(turnID)
	if err := sessions.Notify(ctx, s.db, sessions.Notice{Kind: sessions.NoticeStop, Session: id, Turn: turnID}); err != nil {
		return sessions.Turn{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, sessions.EndGrace)
	defer cancel()
	ticker := time.NewTicker(sessions.EndPollInterval)
	defer ticker.Stop()
	for turn.Status == sessions.TurnInProgress {
		select {
		case <-ticker.C:
		case <-waiting.Done():
			return turn, ctx.Err() // its node is lost: the sweep fails it
		}
		if turn, err = sessions.FindTurn(ctx, s.db, session, turnID); err != nil {
			return sessions.Turn{}, err
		}
	}
	return turn, nil
}

// StopTurn cancels a turn if it runs on this node.
func (s *Service) StopTurn(turn sessions.TurnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.running[turn]; l != nil {
		l.cancel(ErrStopped)
	}
}
