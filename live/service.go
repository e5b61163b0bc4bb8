package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
)

// Deps is what a Service works with. DB, Sessions, Turns and Requests are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	Turns    *turns.Service
	// Requests takes the turns of the same sessions that no socket asks for.
	Requests *requests.Service
	// Models finds what answers out of band.
	Models turns.ModelFunc
	// Tools are the agents' tools; nil: none.
	Tools *tools.Service
	// Log gets what goes wrong without anybody to tell; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service is what is live of conversations on this node: one engine a session, with its sockets.
// Safe for concurrent use. Run keeps it in touch with the other nodes; Close ends what is live
// here.
type Service struct {
	db       *postgres.DB
	sessions *sessions.Service
	turns    *turns.Service
	requests *requests.Service
	models   turns.ModelFunc
	tools    *tools.Service
	log      *slog.Logger
	now      func() time.Time
	// node names this process among those that hold sockets.
	node string
	// live ends when Close has waited long enough; what runs here runs under it.
	live    context.Context //nolint:containedctx // the life of the node's goroutines, which no caller's context spans
	workers sync.WaitGroup

	mu      sync.Mutex
	closing bool
	engines roster
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, sessions: d.Sessions, turns: d.Turns, requests: d.Requests, models: d.Models, tools: d.Tools, log: d.Log, now: d.Now,
		node: d.Turns.Node(), live: d.Turns.Life(), engines: newRoster(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	d.Requests.OnRecorded(s.tellEngine)
	return s
}

// tellEngine shows the session's sockets on this node a turn that was taken without them.
func (s *Service) tellEngine(turn sessions.Turn) {
	if e := s.engineOf(turn.SessionID); e != nil {
		e.send(recorded{turn: turn})
	}
}
