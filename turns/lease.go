package turns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

const (
	leaseRenewal = 3 * time.Second
	// busyPoll is how often a turn that waits for another looks again.
	busyPoll = 60 * time.Millisecond
	// busyWait is the longest a turn waits for the ones before it.
	busyWait = 2 * time.Minute
)

// Why a turn was stopped.
var (
	ErrEnding  = errors.New("the session is being ended")
	ErrStopped = errors.New("the answer was cancelled")
	// errInterrupted is errStopped for what the user said meanwhile.
	ErrInterrupted = errors.New("the answer was interrupted")
)

// turnStart says which turn is to be run.
type Start struct {
	Tenant  workspaces.TenantID
	Session sessions.ID
	// turn is the id of the turn: of a new one, or of the unanswered one when open is set.
	Turn sessions.TurnID
	// open says that the turn's row is there: what a socket said.
	Open bool
	// text is what the user said in a new turn; empty asks the agent to go on.
	text string
	// outputs are a client's results of calls, which a new turn begins with; answered gets those calls.
	outputs  []sessions.Message
	answered *[]tools.ClientCall
	// offered are the caller's own tools of a new turn, as they are kept; see again.go.
	offered json.RawMessage
	// response is the answer's id when a socket asks for it.
	Response string
	// unheard is the answer's id of a quickAsk for the turn of which nobody knows what came; empty: there was none. What it
	// began, nobody runs.
	Unheard string
	// asked is when the answer was asked for; zero: now.
	Asked time.Time
	// recall is what the node remembers of the session; nil for a turn without a socket.
	Recall *SessionCache
	// known is what the node knows of the session; nil: nothing.
	Known *Known
	// early is what has been begun with what was said; nil: nothing has.
	Early *BegunEarly
	// again says that the turn's node was lost, and that it is taken from there: see again.go.
	again bool
}

// lease is the right to run a turn, while it is waited for too: an end reaches it either way.
type Lease struct {
	session sessions.ID
	cancel  context.CancelCauseFunc
	stop    chan struct{}
	renewed sync.WaitGroup
	// losses is the turn's.
	losses int
	// followed says that somebody follows the turn by its row, who wants to hear of its end.
	followed bool
	// begun says that the turn has its row; guarded by Service.mu.
	Begun bool
	// approvals are the turn's calls that wait for somebody's word; nil: none can.
	approvals *Approvals
}

// hold registers a turn of this node; the context ends when the session does.
func (s *Service) hold(ctx context.Context, start Start, waiting *Approvals) (context.Context, *Lease) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &Lease{session: start.Session, cancel: cancel, stop: make(chan struct{}), approvals: waiting}
	s.mu.Lock()
	s.running[start.Turn] = l
	s.mu.Unlock()
	return ctx, l
}

// release ends a hold and its renewal.
func (s *Service) Release(turn sessions.TurnID, l *Lease) {
	s.tellFollowers(turn)
	s.mu.Lock()
	delete(s.running, turn)
	s.mu.Unlock()
	close(l.stop)
	l.renewed.Wait()
	l.cancel(nil)
}

// stopTurns cancels the turns of a session that run or wait on this node.
func (s *Service) StopTurns(session sessions.ID, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.running {
		if l.session == session {
			l.cancel(cause)
		}
	}
}

// renew keeps the lease until it is released; it also hears of an end whose notification was lost.
func (s *Service) renew(ctx context.Context, start Start, l *Lease) {
	ctx = context.WithoutCancel(ctx) // a cancelled turn is still ours until it is recorded
	ticker := time.NewTicker(leaseRenewal)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		mine, ending, err := s.renewOnce(ctx, start, l.losses)
		if err == nil && !mine {
			mine, err = s.reclaimOnce(ctx, start, l.losses)
		}
		switch {
		case err != nil:
			s.log.WarnContext(ctx, "turn lease not renewed", "session_id", start.Session, "turn_id", start.Turn, "error", err)
		case !mine:
			l.cancel(sessions.ErrLeaseLost)
			return
		case ending:
			l.cancel(ErrEnding)
		}
	}
}

func (s *Service) renewOnce(ctx context.Context, start Start, losses int) (mine, ending bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	var rows []sessions.Session // the greatest: one that Postgres was slow with may come behind the next
	err = s.db.NewUpdate().Model((*sessions.Session)(nil)).Set("running_until = greatest(s.running_until, ?)", s.sessions.Now().Add(sessions.LeaseLife)).
		Where("s.tenant_id = ?", start.Tenant).Where("s.id = ?", start.Session).Where("s.running_turn_id = ?", start.Turn).
		Where("EXISTS (SELECT FROM turns AS t WHERE t.tenant_id = s.tenant_id AND t.id = s.running_turn_id AND t.losses = ?)", losses). // else another node has it
		Returning("ending_at").Scan(ctx, &rows)
	if err != nil {
		return false, false, fmt.Errorf("renewing turn lease: %w", err)
	}
	return len(rows) > 0, len(rows) > 0 && !rows[0].EndingAt.IsZero(), nil
}

// begin waits until no other turn of the session runs, on any node, then takes the lease. When
// it returns, what the user said is in Postgres, or on this node's disk while Postgres is away (alone; the
// caller ends it with landTurn). Errors: Precondition session-closed, Unavailable
// unavailable (waited too long), the context's or its cause.
//
// A turn that can begin does so although ctx ends meanwhile, and what was said before too: it is then recorded as
// cancelled. Given up half-way it would be nobody's, and what the user said in it answered by nobody.
func (s *Service) begin(ctx context.Context, start Start, l *Lease) (session sessions.Session, turn sessions.Turn, alone bool, err error) {
	if ctx.Err() != nil && !start.Open {
		return sessions.Session{}, sessions.Turn{}, false, fmt.Errorf("beginning a turn: %w", context.Cause(ctx))
	}
	waiting, cancel := context.WithTimeout(ctx, busyWait)
	defer cancel()
	trying, cancel := context.WithTimeout(context.WithoutCancel(ctx), busyWait)
	defer cancel()
	ticker := time.NewTicker(busyPoll)
	defer ticker.Stop()
	for {
		err := s.Attached(trying, start.Session, func(ctx context.Context) (err error) {
			session, turn, err = s.tryBegin(ctx, start)
			return err
		})
		if s.IsAdrift(err) && start.Recall != nil {
			session, turn, err = s.beginAdrift(start)
			return session, turn, err == nil, err
		}
		if err == nil {
			s.mu.Lock()
			l.losses, l.Begun = turn.Losses, true
			s.mu.Unlock()
			start.Recall.Began(session, turn)
		}
		if !errors.Is(err, errBusy) {
			return session, turn, false, err
		}
		select {
		case <-ticker.C:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return sessions.Session{}, sessions.Turn{}, false, fmt.Errorf("waiting for the turn before: %w", context.Cause(ctx))
			}
			return sessions.Session{}, sessions.Turn{}, false, errStillRunning()
		}
	}
}

// errBusy says that another turn runs.
var errBusy = errors.New("another turn is running")

func (s *Service) tryBegin(ctx context.Context, start Start) (session sessions.Session, turn sessions.Turn, err error) {
	if session, turn, begun := s.quickBegin(ctx, start); begun {
		return session, turn, nil
	}
	session, turn, err = s.beginOnce(ctx, start, false)
	if errors.Is(err, errOverdue) && s.Deserted(ctx, start.Session) {
		return s.beginOnce(ctx, start, true)
	}
	return session, turn, err
}

// beginOnce does it step by step. Deserted says that a turn whose lease is over may be taken from its node.
func (s *Service) beginOnce(ctx context.Context, start Start, deserted bool) (session sessions.Session, turn sessions.Turn, err error) {
	now := s.sessions.Now()
	var refused error // a refusal must not roll back what made it true
	err = s.sessions.Locked(ctx, start.Tenant, start.Session, func(ctx context.Context, tx bun.Tx, row *sessions.Session) (err error) {
		refused = nil
		if _, err := s.sessions.StartTx(ctx, tx, row, now); err != nil {
			return err
		}
		session = *row
		if refused = sessions.CheckOpen(session); refused != nil {
			return nil
		}
		if start.Unheard != "" && session.RunningTurnID == start.Turn && session.RunningResponseID == start.Unheard {
			session.RunningTurnID, session.RunningUntil, session.RunningResponseID = "", time.Time{}, ""
		}
		lost := session.RunningTurnID != "" && !session.RunningUntil.After(now)
		switch {
		case start.again && (!lost || session.RunningTurnID != start.Turn):
			refused = errTaken
			return nil
		case session.RunningTurnID != "" && !lost, session.AwaitsResume(now) && session.RunningTurnID != start.Turn, session.SpillUntil.After(now):
			refused = errBusy
			return nil
		case lost && !deserted:
			refused = errOverdue
			return nil
		}
		if err := sessions.LoseTurnTx(ctx, tx, &session, now, start.again); err != nil {
			return err
		}
		turn, err = takeTurn(ctx, tx, &session, start, now)
		if err != nil {
			return err
		}
		if turn.Status != sessions.TurnInProgress {
			refused = fault.New(fault.Conflict, "The turn has been closed meanwhile.")
			return nil
		}
		session.RunningTurnID, session.RunningUntil, session.LastActivityAt = start.Turn, now.Add(sessions.LeaseLife), now
		session.RunningResponseID = start.Response
		return sessions.Update(ctx, tx, session, "running_turn_id", "running_until", "running_response_id", "last_activity_at", "turn_count")
	})
	if err == nil {
		err = refused
	}
	return session, turn, err
}

// takeTurn reads the turn that a socket began, or writes a new one.
func takeTurn(ctx context.Context, tx bun.Tx, session *sessions.Session, start Start, now time.Time) (sessions.Turn, error) {
	if start.Open {
		return sessions.FindTurn(ctx, tx, *session, start.Turn)
	}
	turn := sessions.NewTurn(*session, start.Turn, now)
	turn.Offered = start.offered
	if err := takeOutputs(ctx, tx, *session, start, &turn, now); err != nil {
		return sessions.Turn{}, err
	}
	if start.text != "" {
		turn.UserText = start.text
		turn.Messages = append(turn.Messages, sessions.Message{Role: sessions.RoleUser, ItemID: idgen.New(idgen.Item), Text: start.text})
	}
	session.TurnCount++
	return turn, sessions.InsertTurn(ctx, tx, turn)
}

// accept writes down what a socket said or answered, in the unanswered turn or a new one; on disk while
// Postgres is away. id is that of a new turn, the same in every way: Postgres may have heard of it when it fell silent.
func (s *Service) Accept(ctx context.Context, session sessions.Session, k *SessionCache, id, open sessions.TurnID, said sessions.Message) (turn sessions.Turn, err error) {
	err = s.Attached(ctx, session.ID, func(ctx context.Context) (err error) {
		turn, err = s.acceptTx(ctx, session, id, open, said)
		if postgres.IsUnique(err, "turns_pkey") { // it was stored, and the answer was lost
			turn, err = sessions.FindTurn(ctx, s.db, session, id)
		}
		return err
	})
	if s.IsAdrift(err) {
		return s.acceptAdrift(session, k, id, open, said)
	}
	if err == nil {
		k.SetOpen(turn)
	}
	return turn, err
}

func (s *Service) acceptTx(ctx context.Context, session sessions.Session, id, open sessions.TurnID, said sessions.Message) (sessions.Turn, error) {
	now := s.sessions.Now()
	if open == "" {
		if turn, accepted := s.quickAccept(ctx, session, id, said, now); accepted {
			return turn, nil
		}
	}
	var turn sessions.Turn
	err := s.sessions.Locked(ctx, session.TenantID, session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		if err := sessions.CheckOpen(*row); err != nil {
			return err
		}
		for _, call := range said.Calls {
			if err := newCall(ctx, tx, *row, call.ID); err != nil {
				return err
			}
		}
		if said.Role == sessions.RoleTool {
			asked, err := sessions.TurnAskingTx(ctx, tx, *row, said.CallID)
			if err != nil {
				return err
			}
			if asked.Status != sessions.TurnInProgress { // else finish does it
				asked.Messages = append(asked.Messages, said)
				if err := sessions.RewriteMessages(ctx, tx, asked); err != nil {
					return err
				}
			}
		}
		row.LastActivityAt = now
		if open != "" {
			kept, err := appendTo(ctx, tx, *row, open, said)
			if err != nil {
				return err
			}
			if turn = kept; turn.Status == sessions.TurnInProgress {
				return sessions.Update(ctx, tx, *row, "last_activity_at")
			}
		}
		turn = sessions.NewTurn(*row, id, now)
		turn.Messages = []sessions.Message{said}
		turn.UserText = userText(turn.Messages)
		row.TurnCount++
		if err := sessions.InsertTurn(ctx, tx, turn); err != nil {
			return err
		}
		return sessions.Update(ctx, tx, *row, "last_activity_at", "turn_count")
	})
	return turn, err
}

// appendTo adds a message to an unanswered turn. A turn that is not in progress comes back as it is.
func appendTo(ctx context.Context, tx bun.Tx, session sessions.Session, id sessions.TurnID, said sessions.Message) (sessions.Turn, error) {
	turn, err := sessions.FindTurn(ctx, tx, session, id)
	if err != nil || turn.Status != sessions.TurnInProgress {
		return turn, err
	}
	turn.Messages = append(turn.Messages, said)
	turn.UserText = userText(turn.Messages)
	_, err = sessions.UpdateTurn(ctx, tx, turn, "messages", "user_text")
	return turn, err
}

// userText is everything the user said in the messages.
func userText(messages []sessions.Message) string {
	text := ""
	for _, m := range messages {
		if m.Role != sessions.RoleUser || m.Text == "" {
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += m.Text
	}
	return text
}

// finishing is what comes with the end of a turn.
type finishing struct {
	// endCall closes the session behind the turn.
	endCall bool
	// language, when set, becomes the session's.
	language string
	// assigned are the variables that answers of tools have set.
	assigned map[string]string
}

// finishedColumns are what the end of a turn writes.
var finishedColumns = []string{
	"agent_text", "status", "messages", "citations", "retrieval", "model", "input_tokens", "output_tokens", "metrics", "error_code", "error_message", "ended_at",
}

// finish writes a turn's end, the session's counters and, where one is due, the session's end, in
// one transaction; on disk while Postgres is away. It happens although the caller has gone. Recorded is false
// when somebody else finished the turn before: a forced end, or the sweep.
func (s *Service) finish(ctx context.Context, session sessions.Session, turn *sessions.Turn, with finishing, alone bool) (after sessions.Session, recorded bool, err error) {
	ctx = context.WithoutCancel(ctx)
	if s.spill != nil {
		err = adrift(errAway)
		if !alone {
			err = s.Attached(ctx, session.ID, func(ctx context.Context) (err error) {
				if after, recorded = s.quickFinish(ctx, session, turn, with); !recorded {
					after, recorded, err = s.finishOnce(ctx, *turn, with)
				}
				return err
			})
		}
		if s.IsAdrift(err) {
			after, err = s.finishAdrift(session, turn, with)
			return after, err == nil, err
		}
		return after, recorded, err
	}
	if after, recorded := s.quickFinish(ctx, session, turn, with); recorded {
		return after, true, nil
	}
	pauses := []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}
	for {
		after, recorded, err = s.finishOnce(ctx, *turn, with)
		if err == nil || len(pauses) == 0 || postgres.Decide(err).Reason != fault.ServiceUnavailable {
			return after, recorded, err
		}
		timer := time.NewTimer(pauses[0])
		pauses = pauses[1:]
		select {
		case <-timer.C:
		case <-s.live.Done():
			timer.Stop()
			return after, recorded, err
		}
	}
}

func (s *Service) finishOnce(ctx context.Context, turn sessions.Turn, with finishing) (after sessions.Session, recorded bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := s.sessions.Now()
	err = s.sessions.Locked(ctx, turn.TenantID, turn.SessionID, func(ctx context.Context, tx bun.Tx, session *sessions.Session) (err error) {
		recorded, err = s.finishTx(ctx, tx, session, turn, with, now, false)
		after = *session
		return err
	})
	return after, recorded, err
}

// finishTx is finishOnce on a locked row. With more records of the session to come (see spill.go) an end is
// only written down.
func (s *Service) finishTx(ctx context.Context, tx bun.Tx, session *sessions.Session, turn sessions.Turn, with finishing, now time.Time, more bool) (recorded bool, err error) {
	if err := adoptResults(ctx, tx, *session, &turn); err != nil {
		return false, err
	}
	recorded, err = sessions.UpdateTurn(ctx, tx, turn, finishedColumns...)
	if err == nil && !recorded {
		if recorded, err = sessions.ReclaimTurnTx(ctx, tx, session, turn.ID, "", turn.Losses, now); recorded {
			recorded, err = sessions.UpdateTurn(ctx, tx, turn, finishedColumns...)
		}
	}
	if err != nil || !recorded {
		return recorded, err
	}
	addFinished(session, turn, with, now)
	if session.RunningTurnID == turn.ID {
		session.RunningTurnID, session.RunningUntil = "", time.Time{}
	}
	err = sessions.Update(ctx, tx, *session, "input_tokens", "output_tokens", "tool_calls", "last_activity_at", "language", "assigned_variables", "running_turn_id", "running_until")
	switch {
	case err != nil:
		return recorded, err
	case more && with.endCall:
		return recorded, wantEnd(ctx, tx, session, sessions.Completed, sessions.ReasonEndCall, now)
	case more:
		return recorded, nil
	case !session.EndingAt.IsZero():
		return recorded, s.sessions.CloseTx(ctx, tx, session, session.EndingStatus, session.EndingReason, now)
	case with.endCall:
		return recorded, s.sessions.CloseTx(ctx, tx, session, sessions.Completed, sessions.ReasonEndCall, now)
	}
	return recorded, s.sessions.GiveUpTx(ctx, tx, session, turn, now)
}
