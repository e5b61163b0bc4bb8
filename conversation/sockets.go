package conversation

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/idgen"
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
	e.recall.joined(m.live.session, m.turns, m.unanswered)
	e.session.ItemEdits = m.live.session.ItemEdits
	had := map[string]bool{}
	for _, item := range m.items {
		e.place(item, had)
		if older != nil && !e.session.ItemEdits.removed(item.ID, item.Again) {
			e.show(m.live, item) // it was said where nobody here heard it
		}
		m.live.known[item.key()] = true
	}
	for id, edit := range e.session.ItemEdits {
		if edit.Removed {
			e.items.drop(id)
		}
	}
	for _, turn := range m.unanswered {
		if !turn.Wanted && !e.has(turn.ID) && !e.s.spill.ended(e.id, turn.ID) { // takeUp has those that are
			e.unanswered, e.said = turn.ID, ""
		}
	}
	if older == nil {
		for _, turn := range append(m.unanswered, m.running) {
			e.tellLost(m.live, turn)
		}
	}
	for _, turn := range e.overtaken {
		for _, item := range shown(turn, e.session.ItemEdits) {
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
func (e *engine) over(turn Turn) {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining > 0 {
		e.overtaken = append(e.overtaken, turn)
	}
}

// overtake brings what an arriving socket has read up to what happened here since: turns that ended, and
// what was done to items.
func (e *engine) overtake(m *joined) {
	for _, turn := range e.overtaken {
		m.unanswered = slices.DeleteFunc(m.unanswered, func(t Turn) bool { return t.ID == turn.ID })
		if m.live.session.RunningTurnID == turn.ID {
			m.live.session.RunningTurnID, m.live.session.RunningResponseID, m.running = "", "", Turn{}
		}
	}
	m.live.session.ItemEdits = m.live.session.ItemEdits.behind(e.session.ItemEdits)
}

// greet says the first_message, which is recorded already.
func (e *engine) greet(live *Live, turn Turn) {
	response, item := idgen.New(idgen.Response), turn.Messages[0].ItemID
	live.push(ResponseStarted{ResponseID: response, TurnID: turn.ID, TurnIndex: turn.Index, Greeting: true})
	live.push(MessageStarted{ResponseID: response, ItemID: item})
	live.push(TextDelta{ResponseID: response, ItemID: item, Text: turn.AgentText})
	live.push(MessageDone{ResponseID: response, ItemID: item, Text: turn.AgentText})
	items := itemsOf(turn)
	live.push(ResponseDone{ResponseID: response, TurnID: turn.ID, Status: ResponseCompleted, Items: items, Text: turn.AgentText})
	live.known[item] = true
	e.items.put(item, "")
}

// leave lets a socket go. The last one that hangs up ends the session; one that was lost starts the wait.
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
		e.stopAsides(m.live, errStopped)
	}
	hungUp := m.how == HungUp && len(e.lives) == 0
	if hungUp {
		e.waiting = nil
		if e.current != nil {
			e.current.cancel(errEnding)
		}
	}
	ctx, cancel := context.WithTimeout(m.live.origin.Context(context.WithoutCancel(e.s.live)), writeTimeout)
	defer cancel()
	now := e.s.moment()
	err := e.s.attached(ctx, e.id, func(ctx context.Context) error {
		return e.s.locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *Session) error {
			last, err := leaveTx(ctx, tx, row, m.live.number, now)
			if err != nil || !last || m.how != HungUp {
				return err
			}
			reason := ReasonHangUp
			if !row.SpillUntil.After(now) { // else there are turns which are not written yet
				if reason, err = hangUpReason(ctx, tx, *row); err != nil {
					return err
				}
			}
			return e.s.endTx(ctx, tx, row, Completed, reason, now)
		})
	})
	if e.s.isAdrift(err) {
		err = e.s.leaveAdrift(e.session, m.live.number, m.how == HungUp, now)
	}
	if err != nil { // the heartbeat leaves it out from now on, so the sweep takes it for lost
		e.s.log.ErrorContext(ctx, "socket's leaving not recorded", "session_id", e.id, "error", err)
	}
}

// place gives an item that was read its place, unless it has one here. had are those of which that was asked.
func (e *engine) place(item Item, had map[string]bool) {
	if here, asked := had[item.ID]; !asked {
		had[item.ID] = e.items.has(item.ID)
	} else if item.Again > 0 && !here {
		e.items.drop(item.ID) // that is the place of the one before it
	}
	e.items.put(item.ID, item.After)
}

// show tells a socket of an item it does not know yet.
func (e *engine) show(live *Live, item Item) {
	if !live.known[item.key()] {
		e.tell(live, "", item)
	}
}

// tell tells a socket of an item. commandID is that of the command it came from.
func (e *engine) tell(live *Live, commandID string, item Item) {
	live.known[item.key()] = true
	live.push(ItemAdded{CommandID: commandID, Item: item, PreviousItemID: e.items.put(item.ID, item.After)})
}

// key is what an item is known by: clients may take the id of one that was removed again.
func (i Item) key() string {
	if i.Again == 0 {
		return i.ID
	}
	return i.ID + "\x00" + strconv.Itoa(i.Again)
}

func (e *engine) others(than *Live, items []Item) {
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
func (e *engine) showTurn(turn Turn, asked *Live) {
	items := shown(turn, e.session.ItemEdits) // one of them may have been removed since it was said
	for _, item := range items {
		e.items.put(item.ID, item.After)
	}
	e.others(asked, items)
}

// took notes a turn that was taken without a socket: a client's calls may have got their results in it.
func (e *engine) took(turn Turn) {
	e.over(turn)
	e.recall.took(turn)
	for _, m := range turn.Messages {
		if m.Role == roleTool {
			e.client.settled(m.CallID)
		}
	}
	e.showTurn(turn, nil)
	e.next()
}

// tellEngine shows the session's sockets on this node a turn that was taken without them.
func (s *Service) tellEngine(turn Turn) {
	if turn.SessionID == "" {
		return
	}
	if e := s.engineOf(turn.SessionID); e != nil {
		e.send(recorded{turn: turn})
	}
}

// tellNodes has other nodes show their sockets of the session a turn that was recorded here. A session with a text socket
// alone has none elsewhere while that asks for answers here: a second one would have replaced it.
func (r *runner) tellNodes(ctx context.Context) {
	if r.start.response != "" && r.session.Modality == Text {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	payload, err := json.Marshal(notice{Kind: noticeTurn, Session: r.session.ID, Turn: r.turn.ID, From: r.s.node})
	if err == nil {
		_, err = r.s.db.NewRaw("SELECT pg_notify(?, ?) FROM session_connections AS c WHERE c.tenant_id = ? AND c.session_id = ? AND c.node_id <> ? LIMIT 1",
			Channel, string(payload), r.session.TenantID, r.session.ID, r.s.node).Exec(ctx)
	}
	if err != nil { // the transcript has it
		r.s.log.WarnContext(ctx, "sockets elsewhere not told of a turn", "session_id", r.session.ID, "turn_id", r.turn.ID, "error", err)
	}
}

// lookAtTurn shows the sockets here a turn that another node has recorded.
func (s *Service) lookAtTurn(ctx context.Context, n notice) {
	e := s.engineOf(n.Session)
	if e == nil || n.From == s.node {
		return
	}
	turn, err := selectTurn(ctx, s.db, Session{TenantID: e.tenant, ID: n.Session}, n.Turn)
	if err != nil {
		s.log.WarnContext(ctx, "turn of another node not shown", "session_id", n.Session, "turn_id", n.Turn, "error", err)
		return
	}
	e.send(recordedElsewhere{turn: turn})
}

func closedBy(session Session) Closed {
	closed := Closed{Code: CloseEnded, Reason: session.EndReason, Ended: true, Status: session.Status}
	if session.Status == Broken {
		closed.Code = CloseInternal
	}
	return closed
}

// close tells every socket that it is over, once the answer that is going out is recorded.
func (e *engine) close(closed Closed) {
	e.waiting = nil
	if e.current != nil {
		e.current.cancel(errEnding)
	}
	e.stopAsides(nil, errEnding)
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(e.s.live), writeTimeout)
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
