package conversation

import (
	"context"
	"sync"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// engine is the one goroutine that owns what is live about a session on this node. Everything
// reaches it as a message; it ends when it has no sockets and nothing to finish.
type engine struct {
	s      *Service
	tenant workspaces.TenantID
	id     ID
	inbox  chan any
	// done is closed when the goroutine has ended: nobody takes messages any more.
	done chan struct{}
	// joining counts the sockets on their way; guarded by Service.mu.
	joining int

	session Session
	lives   map[LiveChannel]*Live
	client  clientCalls
	// unanswered is the turn that holds what was said since the last answer; "" when there is none.
	unanswered TurnID
	waiting    []respond
	current    *current
	lastItem   string
	// restarting says that the node is being stopped: sockets that still come in are sent away.
	restarting bool
	// ending is the Closed that waits for the current answer to be recorded.
	ending *Closed
}

// The messages.
type (
	joined struct {
		live       *Live
		greeting   *Turn
		unanswered []Turn
		// open are calls that a client has not answered yet, of turns before.
		open []clientCall
	}
	left struct {
		live  *Live
		how   Leaving
		noted chan struct{}
	}
	commanded struct {
		live    *Live
		command Command
	}
	happened struct {
		run   *current
		event Event
	}
	finished struct {
		run  *current
		went ran
	}
	replaced struct {
		channel LiveChannel
		number  int64
	}
	ended     struct{ session Session }
	recorded  struct{ turn Turn }
	expired   struct{ call *clientCall }
	restarted struct{}
)

// respond is a Respond and the socket it came from.
type respond struct {
	live    *Live
	command Respond
}

// current is the answer that is going out.
type current struct {
	live       *Live
	commandID  string
	responseID string
	turn       TurnID
	open       bool // the turn holds what was said before
	told       bool // its ResponseDone is out: only finished is missing
	approvals  *approvals
	cancel     context.CancelCauseFunc
}

// engineFor returns the session's engine with one more socket on its way: the caller must send joined.
func (s *Service) engineFor(session Session) (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, fault.New(fault.ServiceUnavailable, "This node is being stopped. Connect again.")
	}
	e, ok := s.engines[session.ID]
	if !ok {
		e = &engine{s: s, tenant: session.TenantID, id: session.ID, session: session, inbox: make(chan any), done: make(chan struct{}), lives: map[LiveChannel]*Live{}, client: newClientCalls()}
		s.engines[session.ID] = e
		s.workers.Go(e.loop)
	}
	e.joining++
	return e, nil
}

// engineOf is the session's engine on this node, nil when there is none.
func (s *Service) engineOf(id ID) *engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engines[id]
}

// send hands a message over; false when the engine has ended.
func (e *engine) send(message any) bool {
	select {
	case e.inbox <- message:
		return true
	case <-e.done:
		return false
	}
}

func (e *engine) loop() {
	defer close(e.done)
	defer e.client.stop()
	for !e.retire() {
		switch m := (<-e.inbox).(type) {
		case joined:
			e.join(m)
		case left:
			e.leave(m)
		case commanded:
			e.obey(m.live, m.command)
		case happened:
			e.forward(m)
		case finished:
			e.settle(m)
		case replaced:
			e.replace(m)
		case ended:
			e.close(closedBy(m.session))
		case recorded:
			e.showTurn(m.turn, nil)
		case expired:
			e.expire(m.call)
		case restarted:
			e.restart()
		}
	}
}

// retire takes the engine off the node when there is nothing left for it to do.
func (e *engine) retire() bool {
	if len(e.lives) > 0 || e.current != nil || len(e.waiting) > 0 {
		return false
	}
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.joining > 0 {
		return false
	}
	delete(e.s.engines, e.id)
	return true
}

// join takes a socket in and greets it.
func (e *engine) join(m joined) {
	e.s.mu.Lock()
	e.joining--
	e.s.mu.Unlock()
	if m.live == nil {
		return
	}
	if older := e.lives[m.live.channel]; older != nil {
		if older.number > m.live.number {
			m.live.push(Closed{Code: CloseReplaced, Reason: "replaced"})
			return
		}
		older.push(Closed{Code: CloseReplaced, Reason: "replaced"})
	}
	if len(e.lives) == 0 {
		e.session = m.live.session
	}
	e.lives[m.live.channel] = m.live
	m.live.known = map[string]bool{}
	for _, item := range m.live.history {
		m.live.known[item.ID], e.lastItem = true, item.ID
	}
	for _, turn := range m.unanswered {
		if e.current == nil || e.current.turn != turn.ID {
			e.unanswered = turn.ID
		}
	}
	for _, call := range m.open {
		e.awaitClient(call)
	}
	if m.greeting != nil {
		e.greet(m.live, *m.greeting)
	}
	if e.restarting {
		e.restart()
	}
}

// greet says the first_message, which is recorded already.
func (e *engine) greet(live *Live, turn Turn) {
	response, item := idgen.New(idgen.Response), turn.Messages[0].ItemID
	live.push(ResponseStarted{ResponseID: response, TurnID: turn.ID, Greeting: true})
	live.push(MessageStarted{ResponseID: response, ItemID: item})
	live.push(TextDelta{ResponseID: response, ItemID: item, Text: turn.AgentText})
	live.push(MessageDone{ResponseID: response, ItemID: item, Text: turn.AgentText})
	items := itemsOf(turn)
	live.push(ResponseDone{ResponseID: response, TurnID: turn.ID, Status: ResponseCompleted, Items: items, Text: turn.AgentText})
	live.known[item], e.lastItem = true, item
}

// leave lets a socket go. The last one that hangs up ends the session; one that was lost starts the wait.
func (e *engine) leave(m left) {
	defer close(m.noted)
	if e.lives[m.live.channel] != m.live {
		return // replaced, or closed
	}
	delete(e.lives, m.live.channel)
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
	err := e.s.locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *Session) error {
		last, err := leaveTx(ctx, tx, row, m.live.number, now)
		if err != nil || !last || m.how != HungUp {
			return err
		}
		return endTx(ctx, tx, row, Completed, ReasonHangUp, now, e.s.transcriptURL(row.ID))
	})
	if err != nil { // the heartbeat leaves it out from now on, so the sweep takes it for lost
		e.s.log.ErrorContext(ctx, "socket's leaving not recorded", "session_id", e.id, "error", err)
	}
}

// show tells a socket of an item it does not know yet.
func (e *engine) show(live *Live, commandID string, item Item) {
	if live.known[item.ID] {
		return
	}
	live.known[item.ID] = true
	live.push(ItemAdded{CommandID: commandID, Item: item, PreviousItemID: e.lastItem})
	e.lastItem = item.ID
}

func (e *engine) others(than *Live, items []Item) {
	for _, live := range e.lives {
		if live == than {
			continue
		}
		for _, item := range items {
			e.show(live, "", item)
		}
	}
}

// showTurn tells the sockets of a turn they did not ask for.
func (e *engine) showTurn(turn Turn, asked *Live) { e.others(asked, itemsOf(turn)) }

// next starts the answer that has waited longest, when none is going out.
func (e *engine) next() {
	if e.current != nil || len(e.waiting) == 0 || e.ending != nil || e.client.holds() {
		return
	}
	wanted := e.waiting[0]
	e.waiting = e.waiting[1:]
	start := turnStart{tenant: e.session.TenantID, session: e.id, turn: e.unanswered, open: e.unanswered != ""}
	if !start.open {
		start.turn = TurnID(idgen.New(idgen.Turn))
	}
	e.unanswered = ""
	e.client.answering(e.s.moment())
	ctx, cancel := context.WithCancelCause(e.s.live)
	run := &current{live: wanted.live, commandID: wanted.command.CommandID, responseID: idgen.New(idgen.Response), turn: start.turn, open: start.open, approvals: newApprovals(), cancel: cancel}
	e.current = run
	config := e.session.Config
	r := &runner{
		s: e.s, start: start, origin: &wanted.live.origin, config: &config, clientTools: wanted.live.clientTools, approvals: run.approvals, commandID: run.commandID, responseID: run.responseID,
		emit: func(event Event) error { e.send(happened{run: run, event: event}); return nil },
	}
	if wanted.command.Instructions != nil && allows(config.ClientOverrides, "instructions") {
		r.instructions = wanted.command.Instructions
	}
	e.s.workers.Go(func() {
		defer cancel(nil)
		e.send(finished{run: run, went: r.run(ctx)}) // the engine stays while an answer is going out
	})
}

// forward hands an event of the answer to the socket that asked, if it is still there.
func (e *engine) forward(m happened) {
	live := m.run.live
	if called, ok := m.event.(ClientToolCalled); ok {
		e.awaitClient(e.called(m.run, called))
	}
	if _, last := m.event.(ResponseDone); last {
		m.run.told = true
	}
	if e.lives[live.channel] != live {
		return
	}
	switch event := m.event.(type) {
	case MessageStarted:
		live.known[event.ItemID], e.lastItem = true, event.ItemID
	case ToolStarted:
		live.known[event.ItemID], e.lastItem = true, event.ItemID
	case ClientToolCalled:
		live.known[event.ItemID], e.lastItem = true, event.ItemID
	}
	live.push(m.event)
}

// settle takes the end of an answer.
func (e *engine) settle(m finished) {
	e.current = nil
	live, attached := m.run.live, e.lives[m.run.live.channel] == m.run.live
	if m.went.turn.Status == "" { // it was never begun
		if m.run.open && e.unanswered == "" {
			e.unanswered = m.run.turn
		}
		if attached && e.ending == nil {
			live.push(Failed{CommandID: m.run.commandID, Err: postgres.Decide(m.went.err)})
		}
	} else {
		e.showTurn(m.went.turn, live)
		e.session.Language = m.went.session.Language
	}
	switch {
	case m.went.session.Closed():
		e.close(closedBy(m.went.session))
	case e.ending != nil:
		e.close(*e.ending)
	default:
		e.next()
	}
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
		e.ending = &closed
		e.current.cancel(errEnding)
		return
	}
	for _, live := range e.lives {
		live.push(closed)
	}
	clear(e.lives)
}

// replace closes a socket that a later one took over, on another node too.
func (e *engine) replace(m replaced) {
	live := e.lives[m.channel]
	if live == nil || live.number >= m.number {
		return
	}
	live.push(Closed{Code: CloseReplaced, Reason: "replaced"})
	delete(e.lives, m.channel)
}

// restart sends the sockets away because the node is being stopped. The answer that is going out
// is finished; the session waits for them elsewhere.
func (e *engine) restart() {
	e.waiting, e.restarting = nil, true
	for _, live := range e.lives {
		e.leave(left{live: live, how: Dropped, noted: make(chan struct{})})
		live.push(Closed{Code: CloseRestart, Reason: "restart"})
	}
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

// Close ends what is live on this node: sockets are told to come back (elsewhere), answers that
// are going out may finish until ctx ends. New sockets are refused from now on.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	engines := make([]*engine, 0, len(s.engines))
	for _, e := range s.engines {
		engines = append(engines, e)
	}
	s.mu.Unlock()
	var telling sync.WaitGroup
	for _, e := range engines {
		telling.Go(func() { e.send(restarted{}) })
	}
	ended := make(chan struct{})
	go func() { // ends with the workers, which kill ends at the latest
		telling.Wait()
		s.workers.Wait()
		close(ended)
	}()
	defer s.kill()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	s.kill()
	<-ended
	return ctx.Err()
}
