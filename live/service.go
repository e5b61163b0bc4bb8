package live

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
)

// Deps are what a Service works with. DB, Sessions, Turns and Requests are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	Turns    *turns.Service
	// Requests takes the turns of the same sessions over HTTP.
	Requests *requests.Service
	// Tools are the agents' tools; nil: none.
	Tools *tools.Service
	// Log gets errors that no caller is told; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, sessions: d.Sessions, turns: d.Turns, requests: d.Requests, tools: d.Tools, log: d.Log, now: d.Now,
		node: d.Turns.Node(), life: d.Turns.Life(), engines: newEngineShards(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	d.Requests.OnRecorded(s.SendRecorded)
	return s
}

// SendRecorded sends a turn that was taken without a socket to the session's sockets on this node.
func (s *Service) SendRecorded(turn sessions.Turn) {
	if e := s.engineOf(turn.SessionID); e != nil {
		e.inbox.send(func() { e.observeTurn(turn) })
	}
}

// engineFor returns the session's engine with one more joining socket: the caller must have it
// join.
func (s *Service) engineFor(session sessions.Session) (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, fault.New(fault.ServiceUnavailable, "This node is being stopped. Connect again.")
	}
	e, ok := s.engines.shard(session.ID)[session.ID]
	if !ok {
		e = &engine{
			s: s, tenant: session.TenantID, id: session.ID, session: session, inbox: inbox{start: s.workers.Go, done: make(chan struct{})},
			attached: map[sessions.Channel]*Live{}, away: map[sessions.Channel]*Live{}, outOfBand: map[string]*answer{},
			client: newClientCalls(), cache: s.turns.NewSessionCache(session),
		}
		e.inbox.process = e.runAndRetire
		s.workers.Add(1) // until retired
		s.engines.shard(session.ID)[session.ID] = e
	}
	e.joining++
	return e, nil
}

// engineOf returns the session's engine on this node; nil when there is none.
func (s *Service) engineOf(id sessions.ID) *engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engines.shard(id)[id]
}

// Close tells the sockets on this node to connect to another, and waits for answers in progress
// until ctx ends. New sockets are refused from now on.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	var engines []*engine
	for _, shard := range s.engines.shards {
		engines = slices.AppendSeq(engines, maps.Values(shard))
	}
	s.mu.Unlock()
	var sending sync.WaitGroup
	for _, e := range engines {
		sending.Go(func() { e.inbox.send(e.sendSocketsAway) })
	}
	s.turns.StopTaking()
	ended := make(chan struct{})
	go func() { // Kill ends the workers at the latest
		sending.Wait()
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
