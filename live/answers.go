package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// respond is a Respond and the socket it came from.
type respond struct {
	live    *Live
	command Respond
	// input is the command's, as messages.
	input []sessions.Message
	// turn is what is taken up from a lost node; empty otherwise.
	turn sessions.TurnID
	// asked is when it came; zero: when it is taken.
	asked time.Time
	// held says that it came while results of parallel calls were missing, for which clients ask
	// one by one.
	held bool
}

// current is the answer that is going out.
type current struct {
	// live is the engine's; handing guards that the runner reads it while the engine gives it
	// another.
	live       *Live
	handing    sync.Mutex
	commandID  string
	responseID string
	turn       sessions.TurnID
	open       bool     // the turn holds what was said before
	takenUp    bool     // from a lost node
	told       bool     // its ResponseDone is out: only finished is missing
	aside      bool     // it is out of band
	items      []string // that went out with it
	// behind are commands about them, which wait until it is recorded, and all that come when it is
	// told.
	behind    []commanded
	approvals *turns.Approvals
	cancel    context.CancelCauseFunc
}

// next starts the answer that has waited longest, when none is going out.
func (e *engine) next() {
	if e.current != nil || e.watching != "" || len(e.waiting) == 0 || e.ending != nil || e.client.holds() {
		return
	}
	wanted := e.waiting[0]
	e.waiting = e.waiting[1:]
	if wanted.command.IfSaid && e.unanswered == "" {
		e.next()
		return
	}
	turn := e.unanswered
	if wanted.turn != "" { // what has been said since is answered behind it
		turn = wanted.turn
	}
	start := e.startOf(turn)
	if !start.Open {
		start.Turn = sessions.TurnID(idgen.New(idgen.Turn))
	}
	ctx, run, r := e.ready(wanted, start)
	e.launch(ctx, run, r)
}

func (e *engine) startOf(turn sessions.TurnID) turns.Start {
	return turns.Start{Session: e.session, Turn: turn, Open: turn != "", Cache: e.cache}
}

// ready makes what gives an answer. Whoever does not launch it cancels it.
func (e *engine) ready(wanted respond, start turns.Start) (context.Context, *current, *turns.Runner) {
	ctx, cancel := context.WithCancelCause(e.s.live)
	run := &current{
		live: wanted.live, commandID: wanted.command.CommandID, responseID: idgen.New(idgen.Response),
		turn: start.Turn, open: start.Open, approvals: turns.NewApprovals(), cancel: cancel,
	}
	run.takenUp, start.Response = wanted.turn != "", run.responseID
	r := e.runnerFor(wanted, run)
	r.Start, r.Start.Asked, r.Approvals = start, wanted.asked, run.approvals
	return ctx, run, r
}

// launch has the answer go out.
func (e *engine) launch(ctx context.Context, run *current, r *turns.Runner) {
	e.current = run
	if run.turn == e.unanswered {
		e.unanswered = ""
		// It takes what they were to have answered. Were they left, they would answer what is only
		// noted from now on.
		e.waiting = slices.DeleteFunc(e.waiting, func(r respond) bool { return r.command.IfSaid })
	}
	e.client.answering()
	e.waiting = slices.DeleteFunc(e.waiting, func(r respond) bool { return r.held && e.client.spares(r.command) })
	e.s.turns.Go(func() {
		defer run.cancel(nil)
		e.send(finished{run: run, went: r.Run(ctx)}) // the engine stays while an answer is going out
	})
}

// runnerFor is what takes an answer for a socket.
func (e *engine) runnerFor(wanted respond, run *current) *turns.Runner {
	config := e.session.Config
	return &turns.Runner{
		S: e.s.turns, Start: turns.Start{Session: e.session}, Origin: &wanted.live.origin, Config: &config,
		Options: e.optionsOf(wanted), CommandID: run.commandID, ResponseID: run.responseID,
		Emit: func(event turns.Event) error { e.hand(run, event); return nil },
	}
}

// hand passes an event of the answer on. Nearly all are pieces of text: they go to the socket from
// here, since nothing of the engine's depends on them. The message they are of has come to the
// socket before.
func (e *engine) hand(run *current, event turns.Event) {
	switch event.(type) {
	case turns.TextDelta:
		run.handing.Lock()
		defer run.handing.Unlock()
		run.live.push(event) // nothing, when the socket has its Closed: nobody took its place
	case turns.MessageStarted:
		noted := make(chan struct{})
		if e.send(happened{run: run, event: event, noted: noted}) {
			<-noted
		}
	default:
		e.send(happened{run: run, event: event})
	}
}

// forward hands an event of the answer to the socket that asked, if it is still there.
func (e *engine) forward(m happened) {
	live := m.run.live
	if m.run.aside {
		_, last := m.event.(turns.ResponseDone)
		m.run.told = m.run.told || last
		if e.holds(live) {
			live.push(m.event)
		}
		return
	}
	if called, ok := m.event.(turns.ClientToolCalled); ok {
		e.awaitClient(e.called(m.run, called), live)
	}
	if _, last := m.event.(turns.ResponseDone); last {
		m.run.told = true
	}
	if item := startedItem(m.event); item != "" {
		e.items.Put(item, "")
		m.run.items = append(m.run.items, item)
	}
	if !e.holds(live) {
		return
	}
	switch event := m.event.(type) {
	case turns.MessageStarted:
		live.known[event.ItemID] = true
	case turns.ToolStarted:
		live.known[event.ItemID] = true
	case turns.ClientToolCalled:
		live.known[event.ItemID] = true
	}
	live.push(m.event)
}

// startedItem is the item that begins with an event; empty when none does.
func startedItem(event turns.Event) string {
	switch event := event.(type) {
	case turns.MessageStarted:
		return event.ItemID
	case turns.ToolStarted:
		return event.ItemID
	case turns.ClientToolCalled:
		return event.ItemID
	}
	return ""
}

// giveUp closes a turn of this node's that was never begun and will not be, so that the model sees
// what was said in it.
func (e *engine) giveUp(id sessions.TurnID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.s.live), sessions.WriteTimeout)
	defer cancel()
	now := e.s.sessions.Now()
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) error {
		return e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			turn, err := sessions.FindTurn(ctx, tx, *row, id)
			if err != nil || row.RunningTurnID == id {
				return err
			}
			return sessions.AbandonTurnTx(ctx, tx, *row, &turn, now)
		})
	})
	if err != nil { // it is closed with the session
		e.s.log.WarnContext(ctx, "unanswered turn not closed", "session_id", e.id, "turn_id", id, "error", err)
	}
}

// settle takes the end of an answer.
func (e *engine) settle(m finished) {
	e.current = nil
	live, attached := m.run.live, e.holds(m.run.live)
	if m.went.Turn.Status == "" { // it was never begun
		switch {
		case m.run.open && e.unanswered == "":
			e.unanswered = m.run.turn
		case m.run.open && !m.run.takenUp: // what was said since is another turn, which is the one to be answered
			e.giveUp(m.run.turn)
		}
		if attached && e.ending == nil && !m.run.takenUp { // nobody here asked for it: another node may have it
			live.push(Failed{CommandID: m.run.commandID, Err: postgres.Decide(m.went.Err)})
		}
	} else {
		e.over(m.went.Turn)
		e.showTurn(m.went.Turn, live)
		e.session.Language = m.went.Session.Language
	}
	e.release(live)
	switch {
	case m.went.Session.Closed():
		e.close(closedBy(m.went.Session))
	case e.ending != nil:
		e.close(*e.ending)
	default:
		for _, waited := range m.run.behind {
			e.obey(waited.live, waited.command)
		}
		e.next()
	}
}
