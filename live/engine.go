package live

import (
	"context"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/ahead"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/workspaces"
)

// Service holds the live part of conversations on this node: an engine for each session that has
// sockets. Safe for concurrent use. Run keeps it in touch with the other nodes, and Close stops it.
type Service struct {
	db       *postgres.DB
	sessions *sessions.Service
	turns    *turns.Service
	requests *requests.Service
	tools    *tools.Service
	log      *slog.Logger
	now      func() time.Time
	// node names this process in session_connections and notices.
	node string
	// life ends when Close stops waiting; the node's goroutines run under it.
	life    context.Context //nolint:containedctx // the life of the node's goroutines, which no caller's context spans
	workers sync.WaitGroup

	mu      sync.Mutex
	closing bool
	engines engineShards
}

const (
	// heartbeat is how often a node refreshes the rows of its sockets. It refreshes one shard after
	// the other, because refreshing thousands of rows at once would delay the turns of that moment.
	heartbeat       = 10 * time.Second
	heartbeatShards = 50
)

// engineShards are a node's engines by session, in shards of about equal size. Each heartbeat step
// visits one shard: visiting all of thousands of engines each time took two percent of a busy
// server's processor time.
type engineShards struct {
	seed   maphash.Seed
	shards [heartbeatShards]map[sessions.ID]*engine
}

func newEngineShards() engineShards {
	r := engineShards{seed: maphash.MakeSeed()}
	for shard := range r.shards {
		r.shards[shard] = map[sessions.ID]*engine{}
	}
	return r
}

// shard returns the shard that a session belongs to.
func (r *engineShards) shard(id sessions.ID) map[sessions.ID]*engine {
	return r.shards[maphash.String(r.seed, string(id))%heartbeatShards]
}

// engine owns the live part of one session on this node. It handles one message of its inbox at a
// time, and ends when it has no sockets and nothing to finish.
type engine struct {
	s      *Service
	tenant workspaces.TenantID
	id     sessions.ID
	inbox  inbox
	// joining counts the sockets that are joining; guarded by Service.mu.
	joining int
	// endedWhileJoining are turns that ended on this node since those sockets may have read the
	// session.
	endedWhileJoining []sessions.Turn

	session  sessions.Session
	attached map[sessions.Channel]*Live
	// away are the Lives whose sockets are lost; see away.go.
	away   map[sessions.Channel]*Live
	client clientCalls
	// unanswered is the turn with what was said since the last answer began; empty when there is
	// none.
	unanswered sessions.TurnID
	// cache has what turns need of the session while Postgres is unavailable.
	cache     *turns.SessionCache
	waiting   []answerRequest    // answers that are to begin, oldest first
	current   *answer            // the conversation's answer in progress
	outOfBand map[string]*answer // answers out of band, by response id
	items     itemOrder
	// ahead is the answer to what the user has probably said; nil: there is none.
	ahead *ahead.Answer
	// restarting says that the node is being stopped: sockets that still join are sent away.
	restarting bool
	// watching is the turn that another node runs; see resume.go.
	watching sessions.TurnID
	// ending is the Closed to send when the current answer is recorded.
	ending *Closed
}

// receives reports whether the Live is attached or away.
func (e *engine) receives(live *Live) bool {
	return e.attached[live.channel] == live || e.away[live.channel] == live
}

// socketOf returns the channel's Live, attached or away; nil when there is none.
func (e *engine) socketOf(channel sessions.Channel) *Live {
	if live := e.attached[channel]; live != nil {
		return live
	}
	return e.away[channel]
}

// sockets returns the Lives that get events, attached ones first.
func (e *engine) sockets() []*Live {
	all := make([]*Live, 0, len(e.attached)+len(e.away))
	for _, live := range e.attached {
		all = append(all, live)
	}
	for _, live := range e.away {
		all = append(all, live)
	}
	return all
}

// anySocket returns an attached socket of the session, chat first; nil when there is none.
func (e *engine) anySocket() *Live {
	for _, channel := range []sessions.Channel{sessions.ChatChannel, sessions.VoiceChannel} {
		if live := e.attached[channel]; live != nil {
			return live
		}
	}
	return nil
}

// withOperator reports whether a person has the session, as far as the engine knows.
func (e *engine) withOperator() bool { return e.session.Handover.WithOperator() }

// answers returns the answers in progress.
func (e *engine) answers() []*answer {
	runs := slices.Collect(maps.Values(e.outOfBand))
	if e.current != nil {
		runs = append(runs, e.current)
	}
	return runs
}

// hasAnswer reports whether an answer to the Live is in progress.
func (e *engine) hasAnswer(live *Live) bool {
	return slices.ContainsFunc(e.answers(), func(run *answer) bool { return run.live == live })
}

// answersTurn reports whether the turn's answer is in progress on this node or waits here.
func (e *engine) answersTurn(turn sessions.TurnID) bool {
	return e.current != nil && e.current.turn == turn ||
		slices.ContainsFunc(e.waiting, func(r answerRequest) bool { return r.turn == turn })
}

// canStartNow reports whether an answer to something new would begin at once.
func (e *engine) canStartNow() bool {
	return !e.withOperator() && e.current == nil && e.watching == "" && len(e.waiting) == 0 && e.ending == nil && e.unanswered == ""
}

// answerQueued reports whether a waiting answer will take all results there are: parallel calls get
// one answer.
func (e *engine) answerQueued() bool {
	return slices.ContainsFunc(e.waiting, func(r answerRequest) bool { return r.turn == "" && r.command.isPlain() })
}

// noteTurnEnded records the end of a turn for the sockets that are joining.
func (e *engine) noteTurnEnded(turn sessions.Turn) {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining > 0 {
		e.endedWhileJoining = append(e.endedWhileJoining, turn)
	}
}
