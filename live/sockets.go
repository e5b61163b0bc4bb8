package live

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// join takes a socket in and greets it.
func (e *engine) join(m joined) {
	defer close(m.noted)
	defer e.arrived()
	if m.live == nil {
		return
	}
	m.live.known = map[string]bool{}
	older := e.at(m.live.channel)
	if older != nil && older.number > m.live.number {
		m.live.push(Closed{Code: CloseReplaced, Reason: reasonReplaced})
		return
	}
	if len(e.lives)+len(e.away) == 0 {
		e.session = m.live.session
	}
	for _, run := range e.runs() { // their next pieces come behind what the socket is told here
		run.handing.Lock()
		defer run.handing.Unlock()
	}
	if older != nil {
		e.inherit(m.live, older)
	}
	e.lives[m.live.channel] = m.live
	e.overtake(&m)
	e.cache.Joined(m.live.session, m.turns, m.unanswered)
	e.session.ItemEdits = m.live.session.ItemEdits
	had := map[string]bool{}
	for _, item := range m.items {
		e.place(item, had)
		if older != nil && !e.session.ItemEdits.Removed(item.ID, item.Generation) {
			e.show(m.live, item) // it was said where nobody here heard it
		}
		m.live.known[item.Key()] = true
	}
	for id, edit := range e.session.ItemEdits {
		if edit.Removed {
			e.items.Drop(id)
		}
	}
	for _, turn := range m.unanswered {
		if !turn.ToBeResumed && !e.has(turn.ID) && !e.s.turns.HoldsEnd(e.id, turn.ID) { // takeUp has those that are
			e.unanswered = turn.ID
		}
	}
	if older == nil {
		for _, turn := range append(m.unanswered, m.running) {
			e.tellLost(m.live, turn)
		}
	}
	for _, turn := range e.overtaken {
		for _, item := range sessions.VisibleItems(turn, e.session.ItemEdits) {
			e.show(m.live, item)
		}
	}
	e.watch(m.live.session)
	m.live.elsewhere = e.watching != ""
	for _, call := range m.open {
		e.awaitClient(call, nil)
	}
	if m.greeting != nil {
		e.greet(m.live, *m.greeting)
	}
	e.takeUp(m.unanswered)
	if e.restarting {
		e.restart()
	}
}

// arrived counts a socket that was on its way.
func (e *engine) arrived() {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining--; e.joining == 0 {
		e.overtaken = nil
	}
}

// over notes the end of a turn for the sockets that are on their way.
func (e *engine) over(turn sessions.Turn) {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining > 0 {
		e.overtaken = append(e.overtaken, turn)
	}
}

// overtake brings what an arriving socket has read up to what happened here since: turns that
// ended, and what was done to items.
func (e *engine) overtake(m *joined) {
	for _, turn := range e.overtaken {
		m.unanswered = slices.DeleteFunc(m.unanswered, func(t sessions.Turn) bool { return t.ID == turn.ID })
		if m.live.session.RunningTurnID == turn.ID {
			m.live.session.RunningTurnID, m.live.session.RunningResponseID, m.running = "", "", sessions.Turn{}
		}
	}
	m.live.session.ItemEdits = m.live.session.ItemEdits.MergedAfter(e.session.ItemEdits)
}

// greet says the first_message, which is recorded already.
func (e *engine) greet(live *Live, turn sessions.Turn) {
	response, item := idgen.New(idgen.Response), turn.Messages[0].ItemID
	live.push(turns.ResponseStarted{ResponseID: response, TurnID: turn.ID, TurnIndex: turn.Index, Greeting: true})
	live.push(turns.MessageStarted{ResponseID: response, ItemID: item})
	live.push(turns.TextDelta{ResponseID: response, ItemID: item, Text: turn.AgentText})
	live.push(turns.MessageDone{ResponseID: response, ItemID: item, Text: turn.AgentText})
	items := sessions.ItemsOf(turn)
	live.push(turns.ResponseDone{ResponseID: response, TurnID: turn.ID, Status: turns.ResponseCompleted, Items: items, Text: turn.AgentText})
	live.known[item] = true
	e.items.Put(item, "")
}

// leave lets a socket go. The last one that hangs up ends the session; one that was lost starts the
// wait.
func (e *engine) leave(m left) {
	defer close(m.noted)
	if e.lives[m.live.channel] != m.live {
		return // replaced, or closed
	}
	if m.stays {
		e.putAway(m.live)
	} else {
		delete(e.lives, m.live.channel)
		m.live.shut()
		e.stopAsides(m.live, turns.ErrStopped)
	}
	hungUp := m.how == HungUp && len(e.lives) == 0
	if hungUp {
		e.waiting = nil
		if e.current != nil {
			e.current.cancel(turns.ErrEnding)
		}
	}
	ctx, cancel := context.WithTimeout(m.live.origin.Context(context.WithoutCancel(e.s.live)), sessions.WriteTimeout)
	defer cancel()
	now := e.s.sessions.Now()
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) error {
		return e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			last, err := sessions.LeaveTx(ctx, tx, row, m.live.number, now)
			if err != nil || !last || m.how != HungUp {
				return err
			}
			reason := sessions.ReasonHangUp
			if !row.JournalUntil.After(now) { // else there are turns which are not written yet
				if reason, err = sessions.HangUpReason(ctx, tx, *row); err != nil {
					return err
				}
			}
			return e.s.sessions.EndTx(ctx, tx, row, sessions.Completed, reason, now)
		})
	})
	if turns.IsOffline(err) {
		err = e.s.turns.KeepLeft(turns.LeftParams{Session: e.session, Socket: m.live.number, HungUp: m.how == HungUp, At: now})
	}
	if err != nil { // the heartbeat leaves it out from now on, so the sweep takes it for lost
		e.s.log.ErrorContext(ctx, "socket's leaving not recorded", "session_id", e.id, "error", err)
	}
}

// place gives an item that was read its place, unless it has one here. had are those of which that
// was asked.
func (e *engine) place(item sessions.Item, had map[string]bool) {
	if here, asked := had[item.ID]; !asked {
		had[item.ID] = e.items.Has(item.ID)
	} else if item.Generation > 0 && !here {
		e.items.Drop(item.ID) // that is the place of the one before it
	}
	e.items.Put(item.ID, item.After)
}

// show tells a socket of an item it does not know yet.
func (e *engine) show(live *Live, item sessions.Item) {
	if !live.known[item.Key()] {
		e.tell(live, "", item)
	}
}

// tell tells a socket of an item. commandID is that of the command it came from.
func (e *engine) tell(live *Live, commandID string, item sessions.Item) {
	live.known[item.Key()] = true
	live.push(ItemAdded{CommandID: commandID, Item: item, PreviousItemID: e.items.Put(item.ID, item.After)})
}

func (e *engine) others(than *Live, items []sessions.Item) {
	for _, live := range e.all() {
		if live == than {
			continue
		}
		for _, item := range items {
			e.show(live, item)
		}
	}
}

// showTurn tells the sockets of a turn they did not ask for.
func (e *engine) showTurn(turn sessions.Turn, asked *Live) {
	items := sessions.VisibleItems(turn, e.session.ItemEdits) // one of them may have been removed since it was said
	for _, item := range items {
		e.items.Put(item.ID, item.After)
	}
	e.others(asked, items)
}

// took notes a turn that was taken without a socket: a client's calls may have got their results in
// it.
func (e *engine) took(turn sessions.Turn) {
	e.over(turn)
	e.cache.Observe(turn)
	for _, m := range turn.Messages {
		if m.Role == sessions.RoleTool {
			e.client.settled(m.CallID)
		}
	}
	e.showTurn(turn, nil)
	e.next()
}

// lookAtTurn shows the sockets here a turn that another node has recorded.
func (s *Service) lookAtTurn(ctx context.Context, n sessions.Notice) {
	e := s.engineOf(n.Session)
	if e == nil || n.From == s.node {
		return
	}
	turn, err := sessions.FindTurn(ctx, s.db, sessions.Session{TenantID: e.tenant, ID: n.Session}, n.Turn)
	if err != nil {
		s.log.WarnContext(ctx, "turn of another node not shown", "session_id", n.Session, "turn_id", n.Turn, "error", err)
		return
	}
	e.send(recordedElsewhere{turn: turn})
}

func closedBy(session sessions.Session) Closed {
	closed := Closed{Code: CloseEnded, Reason: session.EndReason, Ended: true, Status: session.Status}
	if session.Status == sessions.Failed {
		closed.Code = CloseInternal
	}
	return closed
}

// close tells every socket that it is over, once the answer that is going out is recorded.
func (e *engine) close(closed Closed) {
	e.waiting = nil
	if e.current != nil {
		e.current.cancel(turns.ErrEnding)
	}
	e.stopAsides(nil, turns.ErrEnding)
	if e.current != nil || len(e.asides) > 0 {
		e.ending = &closed
		return
	}
	for _, live := range e.all() {
		e.drop(live, closed)
	}
}

// replace closes a socket that a later one took over, on another node too.
func (e *engine) replace(m replaced) {
	live := e.at(m.channel)
	switch {
	case live == nil || live.number >= m.number:
	case e.lives[m.channel] == live:
		e.sendAway(live, CloseReplaced, reasonReplaced)
	default:
		live.handed = true
		e.release(live)
	}
}

// restart sends the sockets away because the node is being stopped. The answer that is going out
// is finished; the session waits for them elsewhere.
func (e *engine) restart() {
	e.restarting = true
	if len(e.waiting) > 0 && e.unanswered != "" { // where the client comes back they are answered
		ctx, cancel := context.WithTimeout(context.WithoutCancel(e.s.live), sessions.WriteTimeout)
		defer cancel()
		e.want(ctx, e.unanswered)
	}
	e.waiting = nil
	for _, live := range e.all() {
		if e.away[live.channel] == live {
			live.handed = true
			e.release(live)
			continue
		}
		e.leave(left{live: live, how: Dropped, stays: true, noted: make(chan struct{})})
		live.push(Released{Code: CloseRestart, Reason: reasonRestart}) // Closed is out already when nothing goes out for it
	}
}
