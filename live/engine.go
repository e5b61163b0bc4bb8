package live

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// engine owns what is live about a session on this node. Everything reaches it as a message
// (inbox.go), one at a time; it ends when it has no sockets and nothing to finish.
type engine struct {
	s      *Service
	tenant workspaces.TenantID
	id     sessions.ID
	inbox  inbox
	// done is closed when the engine has ended: nobody takes messages any more.
	done chan struct{}
	// joining counts the sockets on their way; guarded by Service.mu.
	joining int
	// overtaken are turns that ended here meanwhile: what those sockets read may not have their
	// ends.
	overtaken []sessions.Turn

	session sessions.Session
	lives   map[sessions.Channel]*Live
	// away are those whose sockets are lost; see away.go.
	away   map[sessions.Channel]*Live
	client clientCalls
	// unanswered is the turn that holds what was said since the last answer; "" when there is none.
	unanswered sessions.TurnID
	// cache is what turns are answered from while Postgres is away.
	cache   *turns.SessionCache
	waiting []respond
	current *current
	asides  map[string]*current // answers out of band, by response
	items   itemOrder
	// restarting says that the node is being stopped: sockets that still come in are sent away.
	restarting bool
	// watching is the turn that another node runs; see lost.go.
	watching sessions.TurnID
	// ending is the Closed that waits for the current answer to be recorded.
	ending *Closed
}

// The messages.
type (
	joined struct {
		live       *Live
		greeting   *sessions.Turn
		unanswered []sessions.Turn
		// turns are the newest.
		turns []sessions.Turn
		// open are calls of theirs that a client has not answered yet.
		open []sessions.OpenCall
		// items are theirs, those removed too.
		items []sessions.Item
		// running is the turn that runs, on any node; zero when there is none.
		running sessions.Turn
		noted   chan struct{}
	}
	left struct {
		live *Live
		how  Leaving
		// stays says that events are still wanted: see away.go.
		stays bool
		noted chan struct{}
	}
	commanded struct {
		live    *Live
		command Command
	}
	happened struct {
		run   *current
		event turns.Event
		// noted, when not nil, is closed once the event is with its socket.
		noted chan struct{}
	}
	finished struct {
		run  *current
		went turns.Outcome
	}
	replaced struct {
		channel sessions.Channel
		number  int64
	}
	ended    struct{ session sessions.Session }
	recorded struct{ turn sessions.Turn }
	// recordedElsewhere is recorded on another node.
	recordedElsewhere struct{ turn sessions.Turn }
	expired           struct{ call *clientCall }
	changed           struct{ edits sessions.ItemEdits }
	restarted         struct{}
)

// engineFor returns the session's engine with one more socket on its way: the caller must send
// joined.
func (s *Service) engineFor(session sessions.Session) (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, fault.New(fault.ServiceUnavailable, "This node is being stopped. Connect again.")
	}
	e, ok := s.engines.of(session.ID)[session.ID]
	if !ok {
		e = &engine{
			s: s, tenant: session.TenantID, id: session.ID, session: session, done: make(chan struct{}),
			lives: map[sessions.Channel]*Live{}, away: map[sessions.Channel]*Live{}, asides: map[string]*current{},
			client: newClientCalls(), cache: s.turns.NewSessionCache(session),
		}
		s.engines.of(session.ID)[session.ID] = e
		s.workers.Add(1) // until retired
	}
	e.joining++
	return e, nil
}

// engineOf is the session's engine on this node, nil when there is none.
func (s *Service) engineOf(id sessions.ID) *engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engines.of(id)[id]
}

// take does what a message is about. A fault of ours costs the session its sockets, which come
// back, and not the node all others.
func (e *engine) take(message any) {
	defer func() {
		if panicked := recover(); panicked != nil {
			e.s.log.Error("conversation panicked", "session_id", e.id, "error", panicked, telemetry.KeyStack, string(debug.Stack()))
			for _, live := range e.all() {
				e.drop(live, Closed{Code: CloseInternal, Reason: sessions.ReasonInternal})
			}
		}
	}()
	switch m := message.(type) {
	case joined:
		e.join(m)
	case left:
		e.leave(m)
	case commanded:
		e.obey(m.live, m.command)
	case happened:
		if m.noted != nil {
			defer close(m.noted)
		}
		e.forward(m)
	case finished:
		e.settle(m)
	case asideDone:
		e.settleAside(m)
	case replaced:
		e.replace(m)
	case ended:
		e.close(closedBy(m.session))
	case recorded:
		e.took(m.turn)
	case recordedElsewhere:
		if e.watching != m.turn.ID { // else the watch tells of it
			e.took(m.turn)
		}
	case expired:
		e.expire(m.call)
	case changed:
		e.adopt(m.edits)
	case wanted:
		e.takeUp(m.turns)
	case watched:
		e.endWatch(m)
	case faded:
		e.fade(m.live)
	case restarted:
		e.restart()
	}
}

// retire takes the engine off the node when there is nothing left for it to do.
func (e *engine) retire() bool {
	if len(e.lives)+len(e.away) > 0 || e.current != nil || len(e.asides)+len(e.waiting) > 0 {
		return false
	}
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining > 0 {
		return false
	}
	delete(e.s.engines.of(e.id), e.id)
	return true
}

// Close ends what is live on this node: sockets are told to come back (elsewhere), answers that
// are going out may finish until ctx ends. New sockets are refused from now on.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	var engines []*engine
	for _, part := range s.engines.parts {
		engines = slices.AppendSeq(engines, maps.Values(part))
	}
	s.mu.Unlock()
	var telling sync.WaitGroup
	for _, e := range engines {
		telling.Go(func() { e.send(restarted{}) })
	}
	s.turns.StopTaking()
	ended := make(chan struct{})
	go func() { // ends with the workers, which Kill ends at the latest
		telling.Wait()
		s.workers.Wait()
		s.turns.Wait()
		close(ended)
	}()
	defer s.turns.Kill()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	s.turns.Kill()
	<-ended
	return ctx.Err()
}
