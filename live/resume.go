package live

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// watchInterval is how often a node reads a turn that another node runs.
const watchInterval = 200 * time.Millisecond

// requestResume marks a turn so that another node answers it. It is called when this node stops
// before it could.
func (e *engine) requestResume(ctx context.Context, id sessions.TurnID) {
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
		e.s.log.ErrorContext(ctx, "turn not marked to be resumed", "session_id", e.id, "turn_id", id, "error", err)
	}
}

// resumeTurns begins the answers of turns whose node was lost, before the answers that wait here.
// Sockets that got a part of a lost answer are told its end.
func (e *engine) resumeTurns(turns []sessions.Turn) {
	first := 0
	for _, turn := range turns {
		if !turn.ToBeResumed || e.answersTurn(turn.ID) || e.s.turns.HasEnd(e.id, turn.ID) {
			continue
		}
		for _, live := range e.sockets() {
			e.sendLostAnswer(live, turn)
		}
		if e.watching == turn.ID {
			e.watching = ""
		}
		if live := e.anySocket(); live != nil && !e.restarting {
			e.cache.SetOpen(turn)
			e.waiting = slices.Insert(e.waiting, first, answerRequest{live: live, turn: turn.ID, command: Respond{Spoken: live.speaks.Load()}})
			first++
		}
	}
	e.startNext()
}

// watchRemoteTurn polls the session's running turn, when another node runs it, until it has ended.
func (e *engine) watchRemoteTurn(session sessions.Session) {
	id := session.RunningTurnID
	if id == "" || e.watching != "" || e.answersTurn(id) || e.s.turns.Runs(id) {
		return
	}
	e.watching = id
	e.s.workers.Go(func() {
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-e.inbox.done:
				return
			case <-e.s.life.Done():
				return
			}
			turn, over := e.remoteTurn(id)
			if over {
				e.inbox.send(func() { e.remoteTurnEnded(turn, session.RunningResponseID) })
				return
			}
		}
	})
}

// remoteTurn reads a turn that another node runs. It returns true when the turn runs no longer.
func (e *engine) remoteTurn(turn sessions.TurnID) (sessions.Turn, bool) {
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	now := e.s.sessions.Now() // before the row is read, which may take long
	session, err := sessions.Find(ctx, e.s.db, e.tenant, e.id, "")
	if fault.IsReason(err, fault.ResourceNotFound) {
		return sessions.Turn{ID: turn}, true // erased
	}
	if err == nil && session.RunningTurnID == turn && !session.RunningUntil.After(now) {
		if !e.s.turns.NodeLost(ctx, e.id) {
			return sessions.Turn{}, false
		}
		err := e.s.sessions.Locked(ctx, e.tenant, e.id, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
			return sessions.LoseAwaitedTurnTx(ctx, tx, row, now)
		})
		if err != nil {
			e.s.log.WarnContext(ctx, "lost turn not reclaimed yet", "session_id", e.id, "turn_id", turn, "error", err)
		}
		return sessions.Turn{}, false // the next poll reads the outcome
	}
	if err != nil || session.RunningTurnID == turn {
		return sessions.Turn{}, false
	}
	ended, err := sessions.FindTurn(ctx, e.s.db, session, turn)
	if err == nil {
		ended, err = e.s.sessions.OpenTurn(ctx, session, ended)
	}
	ended.ID = turn
	return ended, err == nil || fault.IsReason(err, fault.ResourceNotFound)
}

// remoteTurnEnded tells the sockets how a turn of another node ended, or resumes it when that node
// was lost.
func (e *engine) remoteTurnEnded(turn sessions.Turn, response string) {
	if e.watching != turn.ID {
		return
	}
	e.watching = ""
	if turn.Status == sessions.TurnInProgress {
		e.resumeTurns([]sessions.Turn{turn})
		return
	}
	if turn.Status == "" { // erased
		e.startNext()
		return
	}
	items := sessions.VisibleItems(turn, e.session.ItemEdits)
	ended := AnswerEnded{
		ResponseID: response, TurnID: turn.ID, Status: turns.ResponseStatus(turn.Status), Items: items,
		Text: turn.AgentText, Citations: turn.Citations, Usage: turn.Usage(),
	}
	if turn.Status == sessions.TurnFailed {
		ended.Err = sessions.ForEndUser(&fault.Error{Reason: fault.Reason(turn.ErrorCode), Message: turn.ErrorMessage})
	}
	for _, live := range e.sockets() {
		one := ended
		one.AlreadySent = response == "" && !slices.ContainsFunc(items, func(item sessions.Item) bool { return !live.known[item.Key()] })
		live.push(one)
		for _, item := range items {
			live.known[item.Key()] = true
			e.items.Put(item.ID, item.After)
		}
	}
	e.startNext()
}

// cancelOnOtherNode stops the answer that another node gives.
func (e *engine) cancelOnOtherNode() {
	ctx, cancel := context.WithTimeout(e.s.life, sessions.WriteTimeout)
	defer cancel()
	if err := sessions.Notify(ctx, e.s.db, sessions.Notice{Kind: sessions.NoticeCancel, Session: e.id, From: e.s.node}); err != nil {
		e.s.log.WarnContext(ctx, "cancel notice not sent", "session_id", e.id, "error", err)
	}
}
