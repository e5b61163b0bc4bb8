package conversation

import (
	"context"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/tools"
)

// acceptAdrift is accept without Postgres: what was said is on disk when there is no error.
func (s *Service) acceptAdrift(session Session, k *recall, id, open TurnID, said Message) (Turn, error) {
	if k == nil {
		return Turn{}, adrift(errAway)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := openError(k.session); err != nil {
		return Turn{}, err
	}
	if said.Role == roleTool && (said.Result == nil || said.Result.ToolID == "") {
		return Turn{}, fault.New(fault.ServiceUnavailable, "The database is not available, and this server does not know the call %q. Send its result again in a moment.", said.CallID)
	}
	now := s.moment()
	var turn Turn
	switch {
	case open == "":
		turn = newTurn(k.session, id, now)
	case k.open != nil && k.open.ID == open:
		turn = *k.open
		turn.Messages = append([]Message{}, turn.Messages...)
	default:
		return Turn{}, adrift(errAway) // what was said before is not known here
	}
	turn.Messages = append(turn.Messages, said)
	turn.UserText = userText(turn.Messages)
	if err := s.keepTurn(session, turn, now); err != nil {
		return Turn{}, err
	}
	k.open = &turn
	k.session.TurnCount, k.session.LastActivityAt = max(k.session.TurnCount, turn.Index+1), now
	return turn, nil
}

// keepTurn keeps a turn as it stands.
func (s *Service) keepTurn(session Session, turn Turn, at time.Time) error {
	r := newRecord(recordTurn, session, at)
	r.Turn = &turn
	return s.spill.keep(r)
}

// beginAdrift is begin without Postgres. The session stays adrift until landTurn.
func (s *Service) beginAdrift(start turnStart) (Session, Turn, error) {
	k := start.recall
	if k == nil {
		return Session{}, Turn{}, adrift(errAway)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := openError(k.session); err != nil {
		return k.session, Turn{}, err
	}
	now := s.moment()
	var turn Turn
	switch {
	case !start.open:
		turn = newTurn(k.session, start.turn, now)
	case k.open != nil && k.open.ID == start.turn:
		turn = *k.open
	default:
		return k.session, Turn{}, adrift(errAway)
	}
	// Should this process die, whoever reads the record knows that an answer is due.
	turn.Wanted, turn.LostResponseID = true, start.response
	s.spill.enter(start.tenant, start.session)
	if err := s.keepTurn(k.session, turn, now); err != nil {
		s.spill.leave(start.session)
		return k.session, Turn{}, err
	}
	if start.open {
		k.open = nil
	}
	k.session.TurnCount, k.session.LastActivityAt = max(k.session.TurnCount, turn.Index+1), now
	return k.session, turn, nil
}

// landTurn is the end of beginAdrift, behind the turn's own.
func (s *Service) landTurn(start turnStart) { s.spill.leave(start.session) }

// prepareAdrift is prepare without Postgres: there are no passages.
func (r *runner) prepareAdrift(ctx context.Context) error {
	k := r.start.recall
	if k == nil {
		return adrift(errAway)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r.summary, r.before, r.earlier = k.summary, k.before, k.before.messages()
	r.making.history = &ReceiptHistory{Turns: len(k.before.turns), Tokens: k.before.tokens, SummarizedTurns: k.summary.Turns}
	if k.summary.Text != "" {
		r.making.history.SummaryHash = hashOf(k.summary.Text)
	}
	r.values = tools.NewVariables(publicVariables(r.session, r.s.moment()))
	r.values.Secret = k.values.Secret
	r.unreachable = r.s.retriever != nil && r.turn.UserText != "" && !strings.HasPrefix(r.turn.UserText, "/tool ")
	if !r.aside {
		r.tools = k.tools
	}
	return ctx.Err()
}

// keepMessages writes the turn's messages before its end; mine is false when somebody else has the turn.
func (r *runner) keepMessages(ctx context.Context) (mine bool, err error) {
	if r.adrift {
		return true, r.s.keepTurn(r.session, r.turn, r.s.moment())
	}
	err = r.s.attached(ctx, r.session.ID, func(ctx context.Context) (err error) {
		mine, err = updateTurn(ctx, r.s.db, r.turn, "messages")
		return err
	})
	if r.s.isAdrift(err) {
		turn := r.turn
		turn.Wanted, turn.LostResponseID = r.start.response != "", r.start.response
		return true, r.s.keepTurn(r.session, turn, r.s.moment())
	}
	return mine, err
}

// finishAdrift is finish without Postgres: the end is on disk when there is no error. The turn's receipt is the one that
// it will have, unless it has no place in the session yet.
func (s *Service) finishAdrift(session Session, turn *Turn, with finishing) (after Session, err error) {
	now := s.moment()
	if err := turn.spillReceipt(turn.Receipt); err != nil {
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
	session.applyFinish(*turn, with, now)
	if with.endCall {
		session.Status, session.EndReason, session.EndedAt = Completed, ReasonEndCall, now
	}
	return session, nil
}

// failed is the end of a turn that could not be kept. Its client is told that it failed, and so is whoever reads it later;
// without an end it would be answered again.
func (r record) failed(session Session, err error) record {
	turn, decided := *r.Turn, postgres.Decide(err)
	turn.Status, turn.ErrorCode, turn.ErrorMessage = TurnFailed, string(decided.Reason), decided.Message
	turn.putReceipt(session, nil)
	r.Turn, r.Receipt, r.EndCall = &turn, turn.Receipt, false
	return r
}

// applyFinish adds a finished turn to what the session counts.
func (s *Session) applyFinish(turn Turn, with finishing, now time.Time) {
	s.InputTokens += turn.InputTokens
	s.OutputTokens += turn.OutputTokens
	s.ToolCalls += len(turn.ToolCalls())
	if now.After(s.LastActivityAt) {
		s.LastActivityAt = now
	}
	if with.language != "" {
		s.Language = with.language
	}
	mergeAssigned(s, with.assigned)
}

// leaveAdrift keeps that a socket has gone.
func (s *Service) leaveAdrift(session Session, number int64, hungUp bool, at time.Time) error {
	r := newRecord(recordLeft, session, at)
	r.Socket, r.HungUp = number, hungUp
	return s.spill.keep(r)
}

// endAdrift keeps that the session is to be ended, and returns it as it will be.
func (s *Service) endAdrift(session Session, status Status, reason string) (Session, error) {
	r := newRecord(recordEnd, session, s.moment())
	r.Status, r.Reason = status, reason
	if err := s.spill.keep(r); err != nil {
		return session, err
	}
	session.Status, session.EndReason, session.EndedAt = status, reason, r.At
	return session, nil
}

// correctAdrift keeps late results of calls.
func (s *Service) correctAdrift(session Session, turn TurnID, results []Message, assigned map[string]string) error {
	r := newRecord(recordResults, session, s.moment())
	r.TurnID, r.Results, r.Assigned = turn, results, assigned
	return s.spill.keep(r)
}

// answering finds what answers. While Postgres is away it is what answered last: the workspace's own keys cannot be read.
func (r *runner) answering(ctx context.Context) (provider model.Provider, err error) {
	k := r.start.recall
	find := func(ctx context.Context) error {
		provider, err = r.provider(ctx)
		return err
	}
	if k != nil && (r.adrift || r.s.spill.isAway()) {
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
func (s *Service) keepTrace(ctx context.Context, session Session, turn TurnID, adrift bool, trace *tools.Call) {
	if trace == nil || s.spill == nil || !adrift && !s.spill.isAway() && s.spill.answering() {
		return
	}
	kept := newRecord(recordTrace, session, s.moment())
	kept.Trace = trace
	if err := s.spill.keep(kept); err != nil {
		s.log.ErrorContext(ctx, "trace of a call not kept", "session_id", session.ID, "turn_id", turn, "error", err)
	}
}
