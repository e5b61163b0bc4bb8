package live

import (
	"slices"

	"parlance.dev/parlance/sessions"
)

// arrival is a new socket with what it read of its session. live is nil when the socket could not
// join.
type arrival struct {
	live       *Live
	greeting   *sessions.Turn
	unanswered []sessions.Turn
	// turns are the newest turns.
	turns []sessions.Turn
	// open are the calls in turns that the client has not answered yet.
	open []sessions.OpenCall
	// items are the items of turns, including removed ones.
	items []sessions.Item
	// running is the turn that runs on any node; zero when none does.
	running sessions.Turn
}

// join adds a socket and sends it what it missed.
func (e *engine) join(m arrival) {
	defer e.socketArrived()
	if m.live == nil {
		return
	}
	m.live.known = map[string]bool{}
	older := e.socketOf(m.live.channel)
	if older != nil && older.number > m.live.number {
		m.live.push(Closed{Code: CloseReplaced, Reason: reasonReplaced})
		return
	}
	known := e.session.Handover
	if len(e.attached)+len(e.away) == 0 {
		e.session = m.live.session
		e.session.Handover = known
	}
	if !known.SameAs(m.live.session.Handover) { // one of them is older
		e.readHandover()
	}
	for _, run := range e.answers() { // their next text must follow what the socket is sent here
		run.liveMu.Lock()
		defer run.liveMu.Unlock()
	}
	if older != nil {
		e.takeOver(m.live, older)
	}
	e.attached[m.live.channel] = m.live
	e.catchUp(&m)
	e.cache.Joined(m.live.session, m.turns, m.unanswered)
	e.session.ItemEdits = m.live.session.ItemEdits
	placed := map[string]bool{}
	for _, item := range m.items {
		e.placeItem(item, placed)
		if older != nil && !e.session.ItemEdits.Removed(item.ID, item.Generation) {
			e.sendItemOnce(m.live, item) // said on another node
		}
		m.live.known[item.Key()] = true
	}
	for id, edit := range e.session.ItemEdits {
		if edit.Removed {
			e.items.Drop(id)
		}
	}
	for _, turn := range m.unanswered {
		if !turn.ToBeResumed && !e.answersTurn(turn.ID) && !e.s.turns.HasEnd(e.id, turn.ID) { // resumeTurns handles the others
			e.unanswered = turn.ID
		}
	}
	if older == nil {
		for _, turn := range append(m.unanswered, m.running) {
			e.sendLostAnswer(m.live, turn)
		}
	}
	for _, turn := range e.endedWhileJoining {
		for _, item := range sessions.VisibleItems(turn, e.session.ItemEdits) {
			e.sendItemOnce(m.live, item)
		}
	}
	e.watchRemoteTurn(m.live.session)
	m.live.answeredElsewhere = e.watching != ""
	for _, call := range m.open {
		e.awaitClientCall(call, nil)
	}
	if m.greeting != nil {
		e.sendGreeting(m.live, *m.greeting)
	}
	if e.session.Handover.Status != sessions.NoHandover {
		m.live.push(e.handoverChanged())
	}
	e.leaveToOperator(m.live)
	e.resumeTurns(m.unanswered)
	if e.restarting {
		e.sendSocketsAway()
	}
}

// socketArrived ends a socket's joining.
func (e *engine) socketArrived() {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining--; e.joining == 0 {
		e.endedWhileJoining = nil
	}
}

// catchUp updates what a joining socket has read with what happened on this node since: turns that
// ended, and edits of items.
func (e *engine) catchUp(m *arrival) {
	for _, turn := range e.endedWhileJoining {
		m.unanswered = slices.DeleteFunc(m.unanswered, func(t sessions.Turn) bool { return t.ID == turn.ID })
		if m.live.session.RunningTurnID == turn.ID {
			m.live.session.RunningTurnID, m.live.session.RunningResponseID, m.running = "", "", sessions.Turn{}
		}
	}
	m.live.session.ItemEdits = m.live.session.ItemEdits.MergedAfter(e.session.ItemEdits)
}
