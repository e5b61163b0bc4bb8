package conversation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// A turn whose node was lost is taken up again when it was a socket that asked:
//
//	running ──lease over──► wanted ──► running (another answer, on the node where the client is now)
//
// What its calls came to is kept; one without a result is "unknown", and the model goes on from there.
// Without calls it is answered anew. The client's open answer is ended as failed first. A turn that has lost
// maxLosses nodes fails. What becomes of one without a socket: again.go.
//
// An answer that another node gives is watched: the sockets here are told how it ended, and no other
// one is begun before.

const (
	maxLosses = 2
	// watchEvery is how often a node looks at an answer that another one gives.
	watchEvery = 200 * time.Millisecond
)

// AnswerEnded tells how an answer ended that this node did not give.
type AnswerEnded struct {
	// ResponseID is empty when no socket asked for it.
	ResponseID string
	TurnID     TurnID
	Status     ResponseStatus
	// Items, Text, Citations and Usage are the turn's; none when Lost.
	Items     []Item
	Text      string
	Citations []Citation
	Usage     Usage
	// Lost says that its node was lost: another answer follows.
	Lost bool
	Err  *fault.Error
	// Told says that the client has its events already; whoever passes them on sets it.
	Told bool
}

func (AnswerEnded) liveEvent() {}

func errLost() *fault.Error {
	return fault.New(fault.ServiceUnavailable, "The server that answered was lost. Another answer follows.")
}

func errTakenForLost() error {
	return fault.Wrap(errLeaseLost, fault.ServiceUnavailable, "The turn was taken for lost and has been stopped. Send it again.")
}

// loseTurn takes the turn from a node that stopped renewing its lease. One that no socket asked for fails,
// unless again says that somebody is there who has it answered again. The session's row is locked.
func loseTurn(ctx context.Context, tx bun.Tx, session *Session, now time.Time, again bool) error {
	if session.RunningTurnID == "" || session.RunningUntil.After(now) {
		return nil
	}
	turn, err := selectTurn(ctx, tx, *session, session.RunningTurnID)
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		return err
	}
	if err == nil && turn.Status == TurnInProgress {
		if err := putBack(ctx, tx, *session, turn, now, again); err != nil {
			return err
		}
	}
	session.RunningTurnID, session.RunningUntil, session.RunningResponseID = "", time.Time{}, ""
	return updateSession(ctx, tx, *session, "running_turn_id", "running_until", "running_response_id")
}

// putBack makes a lost turn wanted, or fails it.
func putBack(ctx context.Context, tx bun.Tx, session Session, turn Turn, now time.Time, again bool) error {
	before := turn
	unasked, err := withdrawAll(ctx, tx, turn, now)
	if err != nil {
		return err
	}
	turn.Messages = settleCalls(turn.Messages, unasked, string(codeNotApproved), outputUnasked)
	turn.Messages = settle(turn.Messages, codeUnknown, outputLost)
	if session.RunningResponseID == "" && !again || turn.Losses >= maxLosses || !session.EndingAt.IsZero() {
		turn.Status, turn.EndedAt = TurnFailed, now
		turn.ErrorCode, turn.ErrorMessage = string(fault.InternalError), "The node that answered was lost."
		turn.AgentText = agentText(turn.Messages)
		turn.putReceipt(session, nil)
		_, err := updateTurn(ctx, tx, turn, "status", "ended_at", "error_code", "error_message", "messages", "agent_text")
		return err
	}
	turn.Wanted, turn.LostResponseID = true, session.RunningResponseID
	turn.Losses++
	if err := setLost(ctx, tx, before, turn); err != nil {
		return err
	}
	return notify(ctx, tx, notice{Kind: noticeWanted, Session: session.ID})
}

// setLost writes a turn that was put back, which its old node cannot finish from then on.
func setLost(ctx context.Context, tx bun.Tx, before, turn Turn) error {
	_, err := tx.NewUpdate().Model(&turn).Column("messages", "wanted", "losses", "lost_response_id").
		Where("t.tenant_id = ?", turn.TenantID).Where("t.id = ?", turn.ID).
		Where("t.status = ?", TurnInProgress).Where("t.losses = ?", before.Losses).Exec(ctx)
	return err
}

// reclaim takes a turn that was put back for its node, which was only silent (Postgres was away), while
// nobody has taken it up. False when it is not there to be had. The session's row is locked.
func reclaim(ctx context.Context, tx bun.Tx, session *Session, id TurnID, response string, losses int, now time.Time) (bool, error) {
	if session.RunningTurnID != "" || session.Closed() {
		return false, nil
	}
	result, err := tx.NewUpdate().Model((*Turn)(nil)).Set("losses = ?", losses).Set("wanted = ?", false).
		Where("t.tenant_id = ?", session.TenantID).Where("t.id = ?", id).
		Where("t.status = ?", TurnInProgress).Where("t.losses = ?", losses+1).Where("t.wanted").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("reclaiming turn: %w", err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return false, err
	}
	session.RunningTurnID, session.RunningUntil, session.RunningResponseID = id, now.Add(leaseLife), response
	return true, updateSession(ctx, tx, *session, "running_turn_id", "running_until", "running_response_id")
}

// want writes down that an answer was asked for which this node will not give any more.
func (e *engine) want(ctx context.Context, id TurnID) {
	err := e.s.locked(ctx, e.session.TenantID, e.id, func(ctx context.Context, tx bun.Tx, row *Session) error {
		turn, err := selectTurn(ctx, tx, *row, id)
		if err != nil || row.Closed() {
			return err
		}
		turn.Wanted = true
		if _, err := updateTurn(ctx, tx, turn, "wanted"); err != nil {
			return err
		}
		return notify(ctx, tx, notice{Kind: noticeWanted, Session: e.id, From: e.s.node})
	})
	if err != nil {
		e.s.log.ErrorContext(ctx, "an answer that waits was not handed on", "session_id", e.id, "turn_id", id, "error", err)
	}
}

// wanted says that turns of the session wait for an answer.
type wanted struct{ turns []Turn }

// lookForWanted reads which those are.
func (s *Service) lookForWanted(ctx context.Context, id ID) {
	e := s.engineOf(id)
	if e == nil {
		return
	}
	session, err := selectSession(ctx, s.db, e.tenant, id, "")
	if err != nil || session.Closed() {
		return
	}
	turns, err := selectUnanswered(ctx, s.db, session)
	if err != nil {
		s.log.WarnContext(ctx, "lost turns not looked for", "session_id", id, "error", err)
		return
	}
	e.send(wanted{turns: turns})
}

// takeUp begins the answers that turns wait for; the sockets here are told of those that were lost.
func (e *engine) takeUp(turns []Turn) {
	first := 0
	for _, turn := range turns {
		if !turn.Wanted || e.has(turn.ID) || e.s.spill.ended(e.id, turn.ID) {
			continue
		}
		for _, live := range e.all() {
			e.tellLost(live, turn)
		}
		if e.watching == turn.ID {
			e.watching = ""
		}
		if live := e.anyone(); live != nil && !e.restarting {
			e.recall.opened(turn)
			e.waiting = slices.Insert(e.waiting, first, respond{live: live, turn: turn.ID}) // before what was asked for since
			first++
		}
	}
	e.next()
}

// has says that the turn is answered here, or is about to be.
func (e *engine) has(turn TurnID) bool {
	return e.current != nil && e.current.turn == turn ||
		slices.ContainsFunc(e.waiting, func(r respond) bool { return r.turn == turn })
}

// anyone is a socket of the session here, chat first; nil when there is none.
func (e *engine) anyone() *Live {
	for _, channel := range []LiveChannel{ChatChannel, VoiceChannel} {
		if live := e.lives[channel]; live != nil {
			return live
		}
	}
	return nil
}

// tellLost ends the answer that a lost node had begun, once a socket.
func (e *engine) tellLost(live *Live, turn Turn) {
	if turn.LostResponseID == "" || live.lost == turn.LostResponseID {
		return
	}
	live.lost = turn.LostResponseID
	live.push(AnswerEnded{ResponseID: turn.LostResponseID, TurnID: turn.ID, Status: ResponseFailed, Lost: true, Err: errLost()})
}

// watched says how a turn ended that another node ran.
type watched struct {
	turn     Turn
	response string
}

// watch looks at the turn that another node runs, until it has ended.
func (e *engine) watch(session Session) {
	id := session.RunningTurnID
	if id == "" || e.watching != "" || e.has(id) || e.s.runs(id) {
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
func (s *Service) watchOnce(ctx context.Context, tenant workspaces.TenantID, id ID, turn TurnID) (Turn, bool) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	now := s.moment() // of before: the row may be read late
	session, err := selectSession(ctx, s.db, tenant, id, "")
	if fault.IsReason(err, fault.ResourceNotFound) {
		return Turn{ID: turn}, true // it was erased
	}
	if err == nil && session.RunningTurnID == turn && !session.RunningUntil.After(now) {
		if !s.deserted(ctx, id) {
			return Turn{}, false
		}
		err := s.locked(ctx, tenant, id, func(ctx context.Context, tx bun.Tx, row *Session) error {
			return loseTurn(ctx, tx, row, now, true)
		})
		if err != nil {
			s.log.WarnContext(ctx, "lost turn not taken up yet", "session_id", id, "turn_id", turn, "error", err)
		}
		return Turn{}, false // the next look sees what came of it
	}
	if err != nil || session.RunningTurnID == turn {
		return Turn{}, false
	}
	ended, err := selectTurn(ctx, s.db, session, turn)
	ended.ID = turn
	return ended, err == nil || fault.IsReason(err, fault.ResourceNotFound)
}

// runs says that the turn runs on this node, or waits here for its lease.
func (s *Service) runs(turn TurnID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[turn] != nil
}

// endWatch tells the sockets how the turn ended.
func (e *engine) endWatch(m watched) {
	if e.watching != m.turn.ID {
		return
	}
	e.watching = ""
	if m.turn.Status == TurnInProgress {
		e.takeUp([]Turn{m.turn})
		return
	}
	if m.turn.Status == "" { // it was erased
		e.next()
		return
	}
	items := shown(m.turn, e.session.ItemEdits)
	ended := AnswerEnded{
		ResponseID: m.response, TurnID: m.turn.ID, Status: ResponseStatus(m.turn.Status), Items: items,
		Text: m.turn.AgentText, Citations: m.turn.Citations, Usage: m.turn.Usage(),
	}
	if m.turn.Status == TurnFailed {
		ended.Err = &fault.Error{Reason: fault.Reason(m.turn.ErrorCode), Message: m.turn.ErrorMessage}
	}
	for _, live := range e.all() {
		one := ended
		one.Told = m.response == "" && !slices.ContainsFunc(items, func(item Item) bool { return !live.known[item.key()] })
		live.push(one)
		for _, item := range items {
			live.known[item.key()] = true
			e.items.put(item.ID, item.After)
		}
	}
	e.next()
}

// cancelElsewhere stops the answer that another node gives.
func (e *engine) cancelElsewhere() {
	ctx, cancel := context.WithTimeout(e.s.live, writeTimeout)
	defer cancel()
	if err := notify(ctx, e.s.db, notice{Kind: noticeCancel, Session: e.id, From: e.s.node}); err != nil {
		e.s.log.WarnContext(ctx, "cancelling not passed on", "session_id", e.id, "error", err)
	}
}

// running is the turn that runs.
func running(turns []Turn, session Session) Turn {
	for _, turn := range turns {
		if turn.ID == session.RunningTurnID {
			return turn
		}
	}
	return Turn{}
}
