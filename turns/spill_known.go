package turns

import (
	"slices"
	"sync"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// recall is what a node remembers of a session that is live on it, so as to go on without Postgres. The engine and
// the turn that runs write it. A nil one, which turns without a socket have, remembers nothing.
type SessionCache struct {
	mu      sync.Mutex
	session sessions.Session
	// open is the turn that holds what was said since the last answer.
	open    *sessions.Turn
	before  past
	summary summary
	values  tools.Variables
	tools   tools.Registry
	// provider answered the last turn.
	provider model.Provider
}

// newRecall is nil when nothing is kept here anyhow.
func (s *Service) NewRecall(session sessions.Session) *SessionCache {
	if s.spill == nil {
		return nil
	}
	return &SessionCache{session: session}
}

// joined takes the session as a socket found it.
func (k *SessionCache) Joined(session sessions.Session, turns, unanswered []sessions.Turn) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = session
	if len(k.before.turns) == 0 {
		k.before.left = len(turns) > 0 && turns[0].Index > session.SummarizedTurns
		for _, turn := range turns {
			k.remember(turn)
		}
	}
	for i := range unanswered {
		k.open = &unanswered[i]
	}
}

// opened takes the turn that holds what was said.
func (k *SessionCache) SetOpen(turn sessions.Turn) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = &turn
	k.session.TurnCount = max(k.session.TurnCount, turn.Index+1)
}

// began says that the turn runs.
func (k *SessionCache) Began(session sessions.Session, turn sessions.Turn) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = session
	if k.open != nil && k.open.ID == turn.ID {
		k.open = nil
	}
}

// prepared takes what a turn was prepared from.
func (k *SessionCache) prepared(r *Runner) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.before, k.summary, k.values, k.tools = r.before, r.summary, r.values, r.tools
	k.before.turns = slices.Clone(k.before.turns)
}

// answers takes the provider that answers.
func (k *SessionCache) answers(provider model.Provider) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.provider = provider
}

// finished takes a turn that is over, and the session behind it.
func (k *SessionCache) finished(turn sessions.Turn, after sessions.Session) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	edits := after.ItemEdits
	if edits == nil {
		edits = k.session.ItemEdits
	}
	k.session, k.session.ItemEdits = after, edits
	k.remember(turn)
}

// took takes a turn that another way than this session's sockets here has taken.
func (k *SessionCache) Observe(turn sessions.Turn) {
	if k == nil || turn.Status == sessions.TurnInProgress {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session.TurnCount = max(k.session.TurnCount, turn.Index+1)
	k.remember(turn)
}

// remember puts a finished turn behind the others, of which the oldest go beyond the budget, or large ones are shortened. k.mu
// is held.
func (k *SessionCache) remember(turn sessions.Turn) {
	if turn.Status == sessions.TurnInProgress || slices.ContainsFunc(k.before.turns, func(t pastTurn) bool { return t.id == turn.ID }) {
		return
	}
	all, budget := append(k.before.turns, newPastTurn(turn)), historyBudget(k.session)
	if tokens := all[len(all)-1].tokens; k.before.tokens+tokens <= budget {
		k.before.turns = all
		k.before.tokens += tokens
		return
	}
	before := past{left: k.before.left}
	for _, one := range slices.Backward(all) {
		one.cut = nil
		if !before.take(one, budget) {
			before.left = true
			break
		}
	}
	slices.Reverse(before.turns)
	k.before = before
}

// earlier are the turns that are remembered with the versions of their rows, in the order of their places.
func (k *SessionCache) earlier() []pastTurn {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.before.turns)
}

// edited takes what a client did to items.
func (k *SessionCache) Edited(edits sessions.ItemEdits) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session.ItemEdits = edits
}
