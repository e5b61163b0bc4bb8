package turns

import (
	"context"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// acceptAdrift is accept without Postgres: what was said is on disk when there is no error.
func (s *Service) acceptAdrift(session sessions.Session, k *SessionCache, id, open sessions.TurnID, said sessions.Message) (sessions.Turn, error) {
	if k == nil {
		return sessions.Turn{}, adrift(errAway)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := sessions.CheckOpen(k.session); err != nil {
		return sessions.Turn{}, err
	}
	if said.Role == sessions.RoleTool && (said.Result == nil || said.Result.ToolID == "") {
		return sessions.Turn{}, fault.New(fault.ServiceUnavailable, "The database is not available, and this server does not know the call %q. Send its result again in a moment.", said.CallID)
	}
	now := s.sessions.Now()
	var turn sessions.Turn
	switch {
	case open == "":
		turn = sessions.NewTurn(k.session, id, now)
	case k.open != nil && k.open.ID == open:
		turn = *k.open
		turn.Messages = append([]sessions.Message{}, turn.Messages...)
	default:
		return sessions.Turn{}, adrift(errAway) // what was said before is not known here
	}
	turn.Messages = append(turn.Messages, said)
	turn.UserText = userText(turn.Messages)
	if err := s.keepTurn(session, turn, now); err != nil {
		return sessions.Turn{}, err
	}
	k.open = &turn
	k.session.TurnCount, k.session.LastActivityAt = max(k.session.TurnCount, turn.Index+1), now
	return turn, nil
}

// keepTurn keeps a turn as it stands.
func (s *Service) keepTurn(session sessions.Session, turn sessions.Turn, at time.Time) error {
	r := newRecord(recordTurn, session, at)
	r.Turn = &turn
	return s.spill.keep(r)
}

// beginAdrift is begin without Postgres. The session stays adrift until landTurn.
func (s *Service) beginAdrift(start Start) (sessions.Session, sessions.Turn, error) {
	k := start.Recall
	if k == nil {
		return sessions.Session{}, sessions.Turn{}, adrift(errAway)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := sessions.CheckOpen(k.session); err != nil {
		return k.session, sessions.Turn{}, err
	}
	now := s.sessions.Now()
	var turn sessions.Turn
	switch {
	case !start.Open:
		turn = sessions.NewTurn(k.session, start.Turn, now)
	case k.open != nil && k.open.ID == start.Turn:
		turn = *k.open
	default:
		return k.session, sessions.Turn{}, adrift(errAway)
	}
	// Should this process die, whoever reads the record knows that an answer is due.
	turn.Wanted, turn.LostResponseID = true, start.Response
	s.spill.enter(start.Tenant, start.Session)
	if err := s.keepTurn(k.session, turn, now); err != nil {
		s.spill.leave(start.Session)
		return k.session, sessions.Turn{}, err
	}
	if start.Open {
		k.open = nil
	}
	k.session.TurnCount, k.session.LastActivityAt = max(k.session.TurnCount, turn.Index+1), now
	return k.session, turn, nil
}

// landTurn is the end of beginAdrift, behind the turn's own.
func (s *Service) landTurn(start Start) { s.spill.leave(start.Session) }

// prepareAdrift is prepare without Postgres: there are no passages.
func (r *Runner) prepareAdrift(ctx context.Context) error {
	k := r.Start.Recall
	if k == nil {
		return adrift(errAway)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r.summary, r.before, r.Earlier = k.summary, k.before, k.before.messages()
	r.Receipt.History = &sessions.ReceiptHistory{Turns: len(k.before.turns), Tokens: k.before.tokens, SummarizedTurns: k.summary.Turns}
	if k.summary.Text != "" {
		r.Receipt.History.SummaryHash = sessions.HashOf(k.summary.Text)
	}
	r.values = tools.NewVariables(sessions.PublicVariables(r.Session, r.S.sessions.Now()))
	r.values.Secret = k.values.Secret
	r.unreachable = r.S.retriever != nil && r.Turn.UserText != "" && !strings.HasPrefix(r.Turn.UserText, "/tool ")
	if !r.Aside {
		r.tools = k.tools
	}
	return ctx.Err()
}

// keepMessages writes the turn's messages before its end; mine is false when somebody else has the turn.
func (r *Runner) keepMessages(ctx context.Context) (mine bool, err error) {
	if r.adrift {
		return true, r.S.keepTurn(r.Session, r.Turn, r.S.sessions.Now())
	}
	err = r.S.Attached(ctx, r.Session.ID, func(ctx context.Context) (err error) {
		mine, err = sessions.UpdateTurn(ctx, r.S.db, r.Turn, "messages")
		return err
	})
	if r.S.IsAdrift(err) {
		turn := r.Turn
		turn.Wanted, turn.LostResponseID = r.Start.Response != "", r.Start.Response
		return true, r.S.keepTurn(r.Session, turn, r.S.sessions.Now())
	}
	return mine, err
}

// finishAdrift is finish without Postgres: the end is on disk when there is no error. The turn's receipt is the one that
// it will have, unless it has no place in the session yet.
func (s *Service) finishAdrift(session sessions.Session, turn *sessions.Turn, with finishing) (after sessions.Session, err error) {
	now := s.sessions.Now()
	if err := spillReceipt(turn, turn.Receipt); err != nil {
		return session, err
	}
	turn.Spilled = true
	r := newRecord(recordFinish, session, now)
	r.Turn, r.Receipt = turn, turn.Receipt
	r.EndCall, r.Language, r.Assigned = with.endCall, with.language, with.assigned
	if err := s.spill.keep(r); err != nil {
		s.spill.hold(r.failed(session, err))
		return session, err
	}
	s.spill.metrics.turns.Inc()
	addFinished(&session, *turn, with, now)
	if with.endCall {
		session.Status, session.EndReason, session.EndedAt = sessions.Completed, sessions.ReasonEndCall, now
	}
	return session, nil
}

// failed is the end of a turn that could not be kept. Its client is told that it failed, and so is whoever reads it later;
// without an end it would be answered again.
func (r record) failed(session sessions.Session, err error) record {
	turn, decided := *r.Turn, postgres.Decide(err)
	turn.Status, turn.ErrorCode, turn.ErrorMessage = sessions.TurnFailed, string(decided.Reason), decided.Message
	turn.PutReceipt(session, nil)
	r.Turn, r.Receipt, r.EndCall = &turn, turn.Receipt, false
	return r
}

// applyFinish adds a finished turn to what the session counts.
func addFinished(s *sessions.Session, turn sessions.Turn, with finishing, now time.Time) {
	s.InputTokens += turn.InputTokens
	s.OutputTokens += turn.OutputTokens
	s.ToolCalls += len(turn.ToolCalls())
	if now.After(s.LastActivityAt) {
		s.LastActivityAt = now
	}
	if with.language != "" {
		s.Language = with.language
	}
	MergeAssigned(s, with.assigned)
}

// leaveAdrift keeps that a socket has gone.
func (s *Service) LeaveAdrift(session sessions.Session, number int64, hungUp bool, at time.Time) error {
	r := newRecord(recordLeft, session, at)
	r.Socket, r.HungUp = number, hungUp
	return s.spill.keep(r)
}

// endAdrift keeps that the session is to be ended, and returns it as it will be.
func (s *Service) EndAdrift(session sessions.Session, status sessions.Status, reason string) (sessions.Session, error) {
	r := newRecord(recordEnd, session, s.sessions.Now())
	r.Status, r.Reason = status, reason
	if err := s.spill.keep(r); err != nil {
		return session, err
	}
	session.Status, session.EndReason, session.EndedAt = status, reason, r.At
	return session, nil
}

// correctAdrift keeps late results of calls.
func (s *Service) correctAdrift(session sessions.Session, turn sessions.TurnID, results []sessions.Message, assigned map[string]string) error {
	r := newRecord(recordResults, session, s.sessions.Now())
	r.TurnID, r.Results, r.Assigned = turn, results, assigned
	return s.spill.keep(r)
}

// answering finds what answers. While Postgres is away it is what answered last: the workspace's own keys cannot be read.
func (r *Runner) answering(ctx context.Context) (provider model.Provider, err error) {
	k := r.Start.Recall
	find := func(ctx context.Context) error {
		provider, err = r.provider(ctx)
		return err
	}
	if k != nil && (r.adrift || r.S.spill.IsAway()) {
		k.mu.Lock()
		provider = k.provider
		k.mu.Unlock()
		if provider != nil {
			return provider, nil
		}
		bounded, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		return provider, find(bounded)
	}
	if err := find(ctx); err != nil {
		return nil, err
	}
	k.answers(provider)
	return provider, nil
}

// keepTrace keeps the trace of a call that could not be written.
func (s *Service) KeepTrace(ctx context.Context, session sessions.Session, turn sessions.TurnID, adrift bool, trace *tools.Call) {
	if trace == nil || s.spill == nil || !adrift && !s.spill.IsAway() && s.spill.answering() {
		return
	}
	kept := newRecord(recordTrace, session, s.sessions.Now())
	kept.Trace = trace
	if err := s.spill.keep(kept); err != nil {
		s.log.ErrorContext(ctx, "trace of a call not kept", "session_id", session.ID, "turn_id", turn, "error", err)
	}
}
