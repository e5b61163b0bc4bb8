package journal

import (
	"cmp"
	"context"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// Accept implements turns.Store.
func (j *Journal) Accept(ctx context.Context, p turns.AcceptParams) (turn sessions.Turn, err error) {
	err = j.ReachSession(ctx, p.Session.ID, func(ctx context.Context) (err error) {
		turn, err = j.Store.Accept(ctx, p)
		return err
	})
	if turns.IsOffline(err) {
		return p.Cache.AcceptOffline(p, j.sessions.Now(), j.keepTurnNow)
	}
	if err == nil {
		p.Cache.SetOpen(turn)
	}
	return turn, err
}

// Begin implements turns.Store. When only one connection has broken, the outcome of the first try
// is unknown, and a second try finds it out.
func (j *Journal) Begin(ctx context.Context, p turns.BeginParams) (begun turns.Begun, err error) {
	for range 2 {
		err = j.ReachSession(ctx, p.Session.ID, func(ctx context.Context) (err error) {
			begun, err = j.Store.Begin(ctx, p)
			return err
		})
		if err == nil {
			p.Cache.Began(begun.Session, begun.Turn)
			begun.Release = j.runs(p.Session.ID)
		}
		if !turns.IsOffline(err) || p.Cache == nil {
			return begun, err
		}
		if j.Offline() || j.Holds(p.Session.ID) {
			break
		}
	}
	j.enter(p.Session.TenantID, p.Session.ID)
	begun, err = p.Cache.BeginOffline(p, j.sessions.Now(), j.keepTurnNow)
	if err != nil {
		j.leave(p.Session.ID)
		return begun, err
	}
	begun.Release = func() { j.leave(p.Session.ID) }
	return begun, nil
}

// runs counts a turn of the session that was begun online, until over is called.
func (j *Journal) runs(id sessions.ID) (over func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running[id]++
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.running[id]--; j.running[id] == 0 {
			delete(j.running, id)
		}
	}
}

// keepTurnNow keeps a running turn as it stands now.
func (j *Journal) keepTurnNow(session sessions.Session, turn sessions.Turn) error {
	return j.keepTurn(session, turn, j.sessions.Now())
}

// Save implements turns.Store. The record of a turn that a socket asked for says that another node
// is to resume it, should this one be lost.
func (j *Journal) Save(ctx context.Context, p turns.SaveParams) (mine bool, err error) {
	if p.Offline {
		return true, j.keepTurn(p.Session, p.Turn, j.sessions.Now())
	}
	err = j.ReachSession(ctx, p.Session.ID, func(ctx context.Context) (err error) {
		mine, err = j.Store.Save(ctx, p)
		return err
	})
	if turns.IsOffline(err) {
		turn := p.Turn
		turn.ToBeResumed, turn.LostResponseID = p.Response != "", p.Response
		return true, j.keepTurn(p.Session, turn, j.sessions.Now())
	}
	return mine, err
}

// Finish implements turns.Store.
func (j *Journal) Finish(ctx context.Context, p turns.FinishParams) (finished turns.Finished, err error) {
	if err = turns.OfflineError(errAway); !p.Offline {
		err = j.ReachSession(ctx, p.Session.ID, func(ctx context.Context) (err error) {
			finished, err = j.Store.Finish(ctx, p)
			return err
		})
	}
	if turns.IsOffline(err) {
		finished, err = j.finishOffline(p)
	}
	if err == nil && finished.Recorded {
		p.Cache.Finished(finished.Turn, finished.Session)
	}
	return finished, err
}

// AddResults implements turns.Store.
func (j *Journal) AddResults(ctx context.Context, p turns.ResultParams) error {
	err := j.ReachSession(ctx, p.Session.ID, func(ctx context.Context) error { return j.Store.AddResults(ctx, p) })
	if turns.IsOffline(err) {
		r := newRecord(recordResults, p.Session, j.sessions.Now())
		r.TurnID, r.Results, r.Assigned = p.Turn, p.Results, p.Assigned
		return j.keep(r)
	}
	return err
}

// keepTurn keeps a running turn as it stood at a time.
func (j *Journal) keepTurn(session sessions.Session, turn sessions.Turn, at time.Time) error {
	r := newRecord(recordTurn, session, at)
	r.Turn = &turn
	return j.keep(r)
}

// finishOffline is Finish without Postgres: the end is on disk when there is no error. Its receipt
// is replaced when the turn gets another place in the session.
func (j *Journal) finishOffline(p turns.FinishParams) (turns.Finished, error) {
	session, turn := p.Session, &p.Turn
	if err := completeReceipt(turn, turn.Receipt); err != nil {
		return turns.Finished{Session: session, Turn: p.Turn}, err
	}
	turn.Journalled = true
	r := newRecord(recordFinish, session, p.At)
	r.Turn, r.Receipt = turn, turn.Receipt
	r.EndCall, r.EndReason, r.Language, r.Assigned = p.EndCall, p.EndReason, p.Language, p.Assigned
	r.Handover = p.Handover
	if r.Escalation = p.Escalation; r.Escalation != nil {
		r.UserID = session.UserID
	}
	if err := j.keep(r); err != nil {
		j.hold(r.failed(session, err))
		return turns.Finished{Session: session, Turn: p.Turn}, err
	}
	j.metrics.turns.Inc()
	countFinished(&session, p)
	if p.EndCall {
		session.Status, session.EndedAt = sessions.Completed, p.At
		session.EndReason = cmp.Or(p.EndReason, sessions.ReasonEndCall)
	}
	return turns.Finished{Session: session, Turn: p.Turn, Recorded: true}, nil
}

// failed is the end of a turn whose end could not be kept: the client is told that the turn failed,
// so the transcript says the same. A turn without an end would be answered again.
func (r record) failed(session sessions.Session, err error) record {
	turn, decided := *r.Turn, postgres.Decide(err)
	turn.Status, turn.ErrorCode, turn.ErrorMessage = sessions.TurnFailed, string(decided.Reason), decided.Message
	turn.SetReceipt(session, nil)
	r.Turn, r.Receipt, r.EndCall = &turn, turn.Receipt, false
	return r
}

// countFinished adds a finished turn to what its session counts.
func countFinished(s *sessions.Session, p turns.FinishParams) {
	s.InputTokens += p.Turn.InputTokens
	s.OutputTokens += p.Turn.OutputTokens
	s.ToolCalls += len(p.Turn.ToolCalls())
	if p.At.After(s.LastActivityAt) {
		s.LastActivityAt = p.At
	}
	if p.Language != "" {
		s.Language = p.Language
	}
	turns.MergeAssigned(s, p.Assigned)
}

// KeepLeft implements turns.Database.
func (j *Journal) KeepLeft(p turns.LeftParams) error {
	r := newRecord(recordLeft, p.Session, p.At)
	r.Socket, r.HungUp = p.Socket, p.HungUp
	return j.keep(r)
}

// KeepEnd implements turns.Database.
func (j *Journal) KeepEnd(p turns.EndParams) (sessions.Session, error) {
	r := newRecord(recordEnd, p.Session, j.sessions.Now())
	r.Status, r.Reason = p.Status, p.Reason
	session := p.Session
	if err := j.keep(r); err != nil {
		return session, err
	}
	session.Status, session.EndReason, session.EndedAt = p.Status, p.Reason, r.At
	return session, nil
}

// KeepTrace implements turns.Database.
func (j *Journal) KeepTrace(ctx context.Context, p turns.TraceParams) {
	if p.Trace == nil || !p.Offline && !j.Offline() && j.answering() {
		return
	}
	kept := newRecord(recordTrace, p.Session, j.sessions.Now())
	kept.Trace = p.Trace
	if err := j.keep(kept); err != nil {
		j.log.ErrorContext(ctx, "trace of a call not kept", "session_id", p.Session.ID, "turn_id", p.Turn, "error", err)
	}
}
