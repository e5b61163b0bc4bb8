package requests

import (
	"cmp"
	"context"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/schema"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// FollowGrace is how long a streamed turn goes on while nobody listens.
const FollowGrace = 30 * time.Second

// Deps is what a Service works with. DB, Sessions and Turns are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	Turns    *turns.Service
	// Tools gets the traces of calls that clients have run; nil: there are none.
	Tools *tools.Service
	// FollowGrace is how long a streamed turn goes on while nobody listens; 0 is FollowGrace (30 s).
	FollowGrace time.Duration
	// TenantTurns bounds the turns of one tenant that run or wait on this node; 0 is
	// DefaultTenantTurns.
	TenantTurns int
}

// Service takes turns that are asked for by a request. Safe for concurrent use. What runs here ends
// with the turns.Service.
type Service struct {
	db          *postgres.DB
	sessions    *sessions.Service
	turns       *turns.Service
	tools       *tools.Service
	followGrace time.Duration
	schemas     *schema.Cache // of clients' tools
	onRecorded  func(sessions.Turn)

	queues     *queues
	broadcasts *broadcasts
	followers  *followers
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, sessions: d.Sessions, turns: d.Turns, tools: d.Tools,
		followGrace: cmp.Or(d.FollowGrace, FollowGrace), onRecorded: func(sessions.Turn) {},
		schemas:    &schema.Cache{},
		queues:     newQueues(cmp.Or(d.TenantTurns, DefaultTenantTurns)),
		broadcasts: newBroadcasts(), followers: newFollowers(),
	}
	return s
}

// OnRecorded has fn called with each turn that was taken here and is recorded. Call it before the
// service is used.
func (s *Service) OnRecorded(fn func(sessions.Turn)) { s.onRecorded = fn }

// WakeFollowers has those who follow the turn look at its row; all of them when turn is empty.
func (s *Service) WakeFollowers(turn sessions.TurnID) { s.followers.wake(turn, s.sessions.Now()) }

// Queued is how many turns of the session run or wait on this node.
func (s *Service) Queued(id sessions.ID) int { return s.queues.length(id) }

// GetTurn is one turn of a session. Errors: NotFound.
func (s *Service) GetTurn(ctx context.Context, p workspaces.Principal, id sessions.ID, turnID sessions.TurnID) (sessions.Turn, error) {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Turn{}, err
	}
	return s.findTurn(ctx, session, turnID)
}

// findTurn reads a turn with its content. Errors: NotFound.
func (s *Service) findTurn(ctx context.Context, session sessions.Session, id sessions.TurnID) (sessions.Turn, error) {
	turn, err := sessions.FindTurn(ctx, s.db, session, id)
	if err != nil {
		return sessions.Turn{}, err
	}
	return s.sessions.OpenTurn(ctx, session, turn)
}

// CancelTurn stops a turn that is being answered, on whatever node, and returns it recorded. A turn
// that nobody answers is returned as it is. Errors: NotFound.
func (s *Service) CancelTurn(ctx context.Context, p workspaces.Principal, id sessions.ID, turnID sessions.TurnID) (sessions.Turn, error) {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Turn{}, err
	}
	turn, err := s.findTurn(ctx, session, turnID)
	if err != nil || turn.Status != sessions.TurnInProgress || session.RunningTurnID != turnID {
		return turn, err
	}
	s.turns.StopTurn(turnID)
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
		if turn, err = s.findTurn(ctx, session, turnID); err != nil {
			return sessions.Turn{}, err
		}
	}
	return turn, nil
}
