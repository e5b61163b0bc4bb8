package turns

import (
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns/history"
)

// SessionCache is what a node knows of a session that is live on it. Turns are answered from it
// while Postgres is away. The session's engine, the running turn and the journal write it. A nil
// SessionCache, which turns without a socket have, keeps nothing.
type SessionCache struct {
	mu      sync.Mutex
	session sessions.Session
	// open is the turn that holds what was said since the last answer.
	open *sessions.Turn
	prepared
	// provider answered the last turn.
	provider model.Provider
}

// Joined sets the session and its newest turns as a joining socket has read them.
func (k *SessionCache) Joined(session sessions.Session, turns, unanswered []sessions.Turn) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = session
	if len(k.before.Turns) == 0 {
		k.before.Truncated = len(turns) > 0 && turns[0].Index > session.SummarizedTurns
		for _, turn := range turns {
			k.before.Add(turn, history.Budget(k.session))
		}
	}
	for i := range unanswered {
		k.open = &unanswered[i]
	}
}

// SetOpen sets the turn that holds what was said since the last answer.
func (k *SessionCache) SetOpen(turn sessions.Turn) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = &turn
	k.session.TurnCount = max(k.session.TurnCount, turn.Index+1)
}

// Began sets the session as it is after the beginning of a turn.
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

// prepared is what a turn is answered from.
type prepared struct {
	before  history.Past
	summary Summary
	values  tools.Variables
	tools   tools.Registry
}

// setPrepared sets what the last turn was answered from.
func (k *SessionCache) setPrepared(p prepared) {
	if k == nil {
		return
	}
	p.before.Turns = slices.Clone(p.before.Turns)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.prepared = p
}

// lastPrepared is what a turn is answered from while Postgres is away.
func (k *SessionCache) lastPrepared() prepared {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.prepared
}

// setProvider sets the provider that answers.
func (k *SessionCache) setProvider(provider model.Provider) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.provider = provider
}

// lastProvider answered the last turn; nil: none has.
func (k *SessionCache) lastProvider() model.Provider {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.provider
}

// Finished adds a finished turn, and sets the session as it is after it.
func (k *SessionCache) Finished(turn sessions.Turn, after sessions.Session) {
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
	k.before.Add(turn, history.Budget(k.session))
}

// Observe adds a turn that was taken elsewhere (over HTTP or on another node).
func (k *SessionCache) Observe(turn sessions.Turn) {
	if k == nil || turn.Status == sessions.TurnInProgress {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session.TurnCount = max(k.session.TurnCount, turn.Index+1)
	k.before.Add(turn, history.Budget(k.session))
}

// Edited sets the clients' edits of items.
func (k *SessionCache) Edited(edits sessions.ItemEdits) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session.ItemEdits = edits
}

// AcceptOffline is Store.Accept without Postgres. keep is called with the turn that has the
// message, before the cache is changed. Errors: keep's, Precondition session-closed, ErrOffline
// (the cache does not have the earlier messages of the turn).
func (k *SessionCache) AcceptOffline(
	p AcceptParams, now time.Time, keep func(sessions.Session, sessions.Turn) error,
) (sessions.Turn, error) {
	if k == nil {
		return sessions.Turn{}, OfflineError(errNotKept)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := sessions.CheckOpen(k.session); err != nil {
		return sessions.Turn{}, err
	}
	if said := p.Message; said.Role == sessions.RoleTool && (said.Result == nil || said.Result.ToolID == "") {
		return sessions.Turn{}, fault.New(fault.ServiceUnavailable,
			"The database is not available, and this server does not know the call %q. Send its result again in a moment.", said.CallID)
	}
	var turn sessions.Turn
	switch {
	case p.Open == "":
		turn = sessions.NewTurn(k.session, p.New, now)
	case k.open != nil && k.open.ID == p.Open:
		turn = *k.open
		turn.Messages = slices.Clone(turn.Messages)
	default:
		return sessions.Turn{}, OfflineError(errNotKept)
	}
	turn.Messages = append(turn.Messages, p.Message)
	turn.UserText = sessions.UserText(turn.Messages)
	if err := keep(k.session, turn); err != nil {
		return sessions.Turn{}, err
	}
	k.open = &turn
	k.session.TurnCount, k.session.LastActivityAt = max(k.session.TurnCount, turn.Index+1), now
	return turn, nil
}

// BeginOffline is Store.Begin without Postgres. keep is called with the turn before it runs.
// Errors: those of AcceptOffline.
func (k *SessionCache) BeginOffline(p BeginParams, now time.Time, keep func(sessions.Session, sessions.Turn) error) (Begun, error) {
	if k == nil {
		return Begun{}, OfflineError(errNotKept)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := sessions.CheckOpen(k.session); err != nil {
		return Begun{Session: k.session}, err
	}
	var turn sessions.Turn
	switch {
	case p.New != nil:
		turn = sessions.NewTurn(k.session, p.Turn, now)
		turn.Messages = append(turn.Messages, p.New.Said...)
		turn.UserText = sessions.UserText(turn.Messages)
	case k.open != nil && k.open.ID == p.Turn:
		turn = *k.open
	default:
		return Begun{Session: k.session}, OfflineError(errNotKept)
	}
	// If this process dies, the record says that an answer is due.
	turn.ToBeResumed, turn.LostResponseID = true, p.Response
	if err := keep(k.session, turn); err != nil {
		return Begun{Session: k.session}, err
	}
	if p.New == nil {
		k.open = nil
	}
	k.session.TurnCount, k.session.LastActivityAt = max(k.session.TurnCount, turn.Index+1), now
	return Begun{Session: k.session, Turn: turn, OwnKeys: true, Offline: true}, nil
}
