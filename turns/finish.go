package turns

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// recordEnd records the turn's end, although the caller may have gone. Without a journal it retries
// for a few seconds while Postgres is away.
func (r *Runner) recordEnd(ctx context.Context) (finished Finished, err error) {
	ctx = context.WithoutCancel(ctx)
	p := r.end
	if r.CutsFunc != nil {
		p.Cuts = r.CutsFunc()
	}
	p.Session, p.Turn, p.At, p.Offline, p.Cache = r.Session, r.Turn, r.S.sessions.Now(), r.offline, r.Start.Cache
	pauses := []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}
	for {
		finished, err = r.S.store.Finish(ctx, p)
		if finished.Turn.ID != "" {
			r.Turn = finished.Turn
		}
		if err == nil || r.S.keepsOffline() || len(pauses) == 0 || postgres.Decide(err).Reason != fault.ServiceUnavailable {
			return finished, err
		}
		timer := time.NewTimer(pauses[0])
		pauses = pauses[1:]
		select {
		case <-timer.C:
		case <-r.S.life.Done():
			timer.Stop()
			return finished, err
		}
	}
}

// record writes the turn's end within a span.
func (r *Runner) record(ctx context.Context) (finished Finished, err error) {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "record turn")
	defer func() { span.End(err) }()
	return r.recordEnd(ctx)
}

// notifyNodes has other nodes show the recorded turn to their sockets of the session. A session
// with text sockets only has all of them on the node that answers: a second text socket replaces
// the first.
func (r *Runner) notifyNodes(ctx context.Context) {
	if r.Start.Response != "" && r.Session.Modality == sessions.Text {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	payload, err := json.Marshal(sessions.Notice{Kind: sessions.NoticeTurn, Session: r.Session.ID, Turn: r.Turn.ID, From: r.S.node})
	if err == nil {
		_, err = r.S.db.NewRaw("SELECT pg_notify(?, ?) FROM session_connections AS c"+
			" WHERE c.tenant_id = ? AND c.session_id = ? AND c.node_id <> ? LIMIT 1",
			sessions.NotifyChannel, string(payload), r.Session.TenantID, r.Session.ID, r.S.node).
			Exec(ctx)
	}
	if err != nil { // the transcript has the turn
		r.S.log.WarnContext(ctx, "sockets elsewhere not told of a turn", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	}
}

// conclude writes into the turn how it ended, and returns the error as its caller may see it.
func (r *Runner) conclude(ctx context.Context, err error) error {
	now := r.S.sessions.Now()
	r.Turn.EndedAt = now
	r.Turn.Metrics.TotalMS = sessions.Milliseconds(now.Sub(r.Receipt.AskedAt))
	r.Turn.Messages = sessions.SettleOpenCalls(r.Turn.Messages, sessions.CodeUnfinished, sessions.OutputUnfinished)
	r.Turn.AgentText = sessions.AgentText(r.Turn.Messages)
	_, gone := errors.AsType[goneError](err)
	switch {
	case err == nil:
		r.Turn.Status, r.Turn.Metrics.Incomplete = sessions.TurnCompleted, incomplete[r.finish]
		if r.Turn.Metrics.RoundsExhausted {
			r.Turn.Metrics.Incomplete = cmp.Or(r.Turn.Metrics.Incomplete, ReasonToolRounds)
		}
		return nil
	case gone || ctx.Err() != nil:
		r.Turn.Status = sessions.TurnCancelled
		r.interrupted = errors.Is(context.Cause(ctx), ErrInterrupted)
		switch {
		case errors.Is(context.Cause(ctx), sessions.ErrLeaseLost):
			return sessions.ErrLeaseExpired()
		case errors.Is(context.Cause(ctx), ErrNodeStopping):
			return StoppingError("The answer was not complete in time. " +
				"Send the request again with its Idempotency-Key, or follow the turn: it is then answered to its end.")
		case errors.Is(context.Cause(ctx), ErrEnding):
			return fault.Wrap(err, fault.SessionClosed, "The session was ended while it answered.")
		case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
			return fault.Wrap(err, fault.DeadlineExceeded, "The answer took longer than the request's deadline.")
		}
		return fault.Wrap(err, fault.CallerCanceled, "The answer was cancelled.")
	}
	decided := postgres.Decide(err)
	r.Turn.Status, r.Turn.ErrorCode, r.Turn.ErrorMessage = sessions.TurnFailed, string(decided.Reason), decided.Message
	r.S.log.WarnContext(ctx, "turn failed",
		"session_id", r.Session.ID, "turn_id", r.Turn.ID, "reason", decided.Reason, "error", r.loggable(err))
	return decided
}

// loggable is an error as logs may have it. That of a provider may quote what was said, which is
// not written down of a session that redacts.
func (r *Runner) loggable(err error) error {
	if r.Session.Redactor().Redacts() {
		return fault.New(postgres.Decide(err).Reason, "The error is left out: it may quote what was said.")
	}
	return err
}

// incomplete is why an answer that did not fail is not whole.
var incomplete = map[model.FinishReason]string{model.FinishLength: ReasonMaxOutputTokens, model.FinishFiltered: ReasonContentFilter}

// doneEvent is the last event of the turn.
func (r *Runner) doneEvent(err error) ResponseDone {
	done := ResponseDone{
		ResponseID: r.ResponseID, TurnID: r.Turn.ID, Status: ResponseStatus(r.Turn.Status), Items: r.answered(),
		Text: r.Turn.AgentText, Citations: r.Turn.Citations, Usage: r.Turn.Usage(),
	}
	switch {
	case r.Turn.Status == sessions.TurnFailed:
		done.Err = sessions.ForEndUser(postgres.Decide(err))
	case r.Turn.Status == sessions.TurnCancelled && r.interrupted:
		done.Reason = ReasonTurnDetected
	case r.Turn.Status == sessions.TurnCancelled:
		done.Reason = ReasonClientCancelled
	case r.Turn.Metrics.Incomplete != "":
		done.Status, done.Reason = ResponseIncomplete, r.Turn.Metrics.Incomplete
	}
	return done
}

// answered are the turn's items without those of the user.
func (r *Runner) answered() []sessions.Item {
	var items []sessions.Item
	for _, item := range sessions.ItemsOf(r.Turn) {
		if item.Kind != sessions.UserItem && item.Kind != sessions.SystemItem && item.Kind != sessions.ToolOutputItem && !item.Inserted {
			items = append(items, item)
		}
	}
	return items
}
