package live

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

const (
	// watchEvery is how often a node looks at an answer that another one gives.
	watchEvery = 200 * time.Millisecond
)

// AnswerEnded tells how an answer ended that this node did not give.
type AnswerEnded struct {
	// ResponseID is empty when no socket asked for it.
	ResponseID string
	TurnID     sessions.TurnID
	Status     turns.ResponseStatus
	// Items, Text, Citations and Usage are the turn's; none when Lost.
	Items     []sessions.Item
	Text      string
	Citations []sessions.Citation
	Usage     sessions.Usage
	// Lost says that its node was lost: another answer follows.
	Lost bool
	Err  *fault.Error
	// Told says that the client has its events already; whoever passes them on sets it.
	Told bool
}

func (AnswerEnded) IsEvent() {}

// want writes down that an answer was asked for which this node will not give any more.
func (e *engine) want(ctx context.Context, id sessions.TurnID) {
	err := e.s.sessions.Locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		turn, err := sessions.FindTurn(ctx, tx, *row, id)
		if err != nil || row.Closed() {
			return err
		}
		turn.ToBeResumed = true
		if _, err := sessions.UpdateTurn(ctx, tx, turn, "wanted"); err != nil {
			return err
		}
		return sessions.Notify(ctx, tx, sessions.Notice{Kind: sessions.NoticeResume, Session: e.id, From: e.s.node})
	})
	if err != nil {
		e.s.log.ErrorContext(ctx, "an answer that waits was not handed on", "session_id", e.id, "turn_id", id, "error", err)
	}
}

// wanted says that turns of the session wait for an answer.
type wanted struct{ turns []sessions.Turn }

// lookForWanted reads which those are.
func (s *Service) lookForWanted(ctx context.Context, id sessions.ID) {
	e := s.engineOf(id)
	if e == nil {
		return
	}
	session, err := sessions.Find(ctx, s.db, e.tenant, id, "")
	if err != nil || session.Closed() {
		return
	}
	turns, err := sessions.UnansweredTurns(ctx, s.db, session)
	if err != nil {
		s.log.WarnContext(ctx, "lost turns not looked for", "session_id", id, "error", err)
		return
	}
	e.send(wanted{turns: turns})
}

// takeUp begins the answers that turns wait for; the sockets here are told of those that were lost.
func (e *engine) takeUp(turns []sessions.Turn) {
	first := 0
	for _, turn := range turns {
		if !turn.ToBeResumed || e.has(turn.ID) || e.s.turns.HoldsEnd(e.id, turn.ID) {
			continue
		}
		for _, live := range e.all() {
			e.tellLost(live, turn)
		}
		if e.watching == turn.ID {
			e.watching = ""
		}
		if live := e.anyone(); live != nil && !e.restarting {
			e.cache.SetOpen(turn)
			e.waiting = slices.Insert(e.waiting, first, respond{live: live, turn: turn.ID}) // before what was asked for since
			first++
		}
	}
	e.next()
}

// has says that the turn is answered here, or is about to be.
func (e *engine) has(turn sessions.TurnID) bool {
	return e.current != nil && e.current.turn == turn ||
		slices.ContainsFunc(e.waiting, func(r respond) bool { return r.turn == turn })
}

// anyone is a socket of the session here, chat first; nil when there is none.
func (e *engine) anyone() *Live {
	for _, channel := range []sessions.Channel{sessions.ChatChannel, sessions.VoiceChannel} {
		if live := e.lives[channel]; live != nil {
			return live
		}
	}
	return nil
}

// tellLost ends the answer that a lost node had begun, once a socket.
func (e *engine) tellLost(live *Live, turn sessions.Turn) {
	if turn.LostResponseID == "" || live.lost == turn.LostResponseID {
		return
	}
	live.lost = turn.LostResponseID
	live.push(AnswerEnded{ResponseID: turn.LostResponseID, TurnID: turn.ID, Status: turns.ResponseFailed, Lost: true, Err: sessions.ErrLost()})
}

// watched says how a turn ended that another node ran.
type watched struct {
	turn     sessions.Turn
	response string
}

// watch looks at the turn that another node runs, until it has ended.
func (e *engine) watch(session sessions.Session) {
	id := session.RunningTurnID
	if id == "" || e.watching != "" || e.has(id) || e.s.turns.Runs(id) {
		return
	}
	e.watching = id
	e.s.workers.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-e.done:
				return
			case <-e.s.live.Done():
				return
			}
			turn, over := e.s.watchOnce(e.s.live, e.tenant, e.id, id)
			if over {
				e.send(watched{turn: turn, response: session.RunningResponseID})
				return
			}
		}
	})
}

// watchOnce says whether the turn runs no longer, and how it stands then.
func (s *Service) watchOnce(ctx context.Context, tenant workspaces.TenantID, id sessions.ID, turn sessions.TurnID) (sessions.Turn, bool) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := s.sessions.Now() // of before: the row may be read late
	session, err := sessions.Find(ctx, s.db, tenant, id, "")
	if fault.IsReason(err, fault.ResourceNotFound) {
		return sessions.Turn{ID: turn}, true // it was erased
	}
	if err == nil && session.RunningTurnID == turn && !session.RunningUntil.After(now) {
		if !s.turns.NodeLost(ctx, id) {
			return sessions.Turn{}, false
		}
		err := s.sessions.Locked(ctx, tenant, id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			return sessions.LoseAwaitedTurnTx(ctx, tx, row, now)
		})
		if err != nil {
			s.log.WarnContext(ctx, "lost turn not taken up yet", "session_id", id, "turn_id", turn, "error", err)
		}
		return sessions.Turn{}, false // the next look sees what came of it
	}
	if err != nil || session.RunningTurnID == turn {
		return sessions.Turn{}, false
	}
	ended, err := sessions.FindTurn(ctx, s.db, session, turn)
	ended.ID = turn
	return ended, err == nil || fault.IsReason(err, fault.ResourceNotFound)
}

// endWatch tells the sockets how the turn ended.
func (e *engine) endWatch(m watched) {
	if e.watching != m.turn.ID {
		return
	}
	e.watching = ""
	if m.turn.Status == sessions.TurnInProgress {
		e.takeUp([]sessions.Turn{m.turn})
		return
	}
	if m.turn.Status == "" { // it was erased
		e.next()
		return
	}
	items := sessions.VisibleItems(m.turn, e.session.ItemEdits)
	ended := AnswerEnded{
		ResponseID: m.response, TurnID: m.turn.ID, Status: turns.ResponseStatus(m.turn.Status), Items: items,
		Text: m.turn.AgentText, Citations: m.turn.Citations, Usage: m.turn.Usage(),
	}
	if m.turn.Status == sessions.TurnFailed {
		ended.Err = &fault.Error{Reason: fault.Reason(m.turn.ErrorCode), Message: m.turn.ErrorMessage}
	}
	for _, live := range e.all() {
		one := ended
		one.Told = m.response == "" && !slices.ContainsFunc(items, func(item sessions.Item) bool { return !live.known[item.Key()] })
		live.push(one)
		for _, item := range items {
			live.known[item.Key()] = true
			e.items.Put(item.ID, item.After)
		}
	}
	e.next()
}

// cancelElsewhere stops the answer that another node gives.
func (e *engine) cancelElsewhere() {
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	if err := sessions.Notify(ctx, e.s.db, sessions.Notice{Kind: sessions.NoticeCancel, Session: e.id, From: e.s.node}); err != nil {
		e.s.log.WarnContext(ctx, "cancelling not passed on", "session_id", e.id, "error", err)
	}
}

// running is the turn that runs.
func running(turns []sessions.Turn, session sessions.Session) sessions.Turn {
	for _, turn := range turns {
		if turn.ID == session.RunningTurnID {
			return turn
		}
	}
	return sessions.Turn{}
}
