package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// Run takes the turn, from its lease to its last event. A turn that was begun is recorded, whatever
// happens.
func (r *Runner) Run(ctx context.Context) (outcome Outcome) {
	defer func() { // a panic in answer is recorded as the turn's failure; one elsewhere leaves the turn to be taken for lost
		if panicked := recover(); panicked != nil {
			outcome = Outcome{Session: r.Session, Turn: sessions.Turn{ID: r.Start.Turn}, Err: fmt.Errorf("taking a turn panicked: %v", panicked)}
			r.S.log.ErrorContext(ctx, "turn panicked", "session_id", r.Start.Session.ID, "turn_id", r.Start.Turn,
				"error", panicked, telemetry.KeyStack, string(debug.Stack()))
		}
	}()
	defer r.Ahead.Drop()
	ctx, span := r.startTrace(ctx)
	defer func() { r.endTrace(span, outcome) }()
	r.Receipt = sessions.ReceiptBuilder{AskedAt: r.Start.Asked, Prices: r.S.prices}
	if r.Receipt.AskedAt.IsZero() {
		r.Receipt.AskedAt = r.S.sessions.Now()
	}
	if r.Heard != nil {
		r.Receipt.AskedAt = r.Heard.SpeechEndedAt
		r.Receipt.Stage(sessions.StageEndpointing, r.Heard.SpeechEndedAt, r.Heard.CommittedAt)
		r.Receipt.Stage(sessions.StageTranscript, r.Heard.CommittedAt, r.Heard.TranscribedAt)
	}
	ctx, l := r.S.hold(ctx, r.Start, r.Approvals)
	defer r.S.release(r.Start.Turn, l)
	begun, err := r.S.begin(ctx, &r.Start, l)
	session, turn := begun.Session, begun.Turn
	sessions.AddToLog(ctx, session)
	if err != nil {
		return Outcome{Session: session, Turn: sessions.Turn{ID: r.Start.Turn}, Err: err}
	}
	if begun.Release != nil {
		defer begun.Release()
	}
	if r.begun, r.offline = &begun, begun.Offline; !r.offline {
		l.renewed.Go(func() { r.S.renew(ctx, r.Start, l) })
	}
	r.recorded = make(chan struct{})
	defer close(r.recorded)
	r.Session, r.Turn, r.initialMessages, r.Begun = session, turn, len(turn.Messages), r.S.sessions.Now()
	r.Receipt.Stage(sessions.StageLease, r.Receipt.AskedAt, r.Begun)
	if r.Config != nil {
		r.Session.Config = *r.Config
	}
	err = r.conclude(ctx, r.give(ctx))
	if err != nil && errors.Is(context.Cause(ctx), ErrNodeStopping) && !r.offline {
		return Outcome{Session: session, Turn: sessions.Turn{ID: turn.ID}, Err: err} // as if this node were lost: the turn is resumed
	}
	r.Turn.SetReceipt(session, &r.Receipt)
	finished, finishErr := r.record(ctx)
	after, recorded := finished.Session, finished.Recorded
	switch {
	case finishErr != nil:
		r.S.log.ErrorContext(ctx, "turn not recorded", "session_id", session.ID, "turn_id", turn.ID, "error", finishErr)
		err = finishErr
		r.Turn.Status = sessions.TurnFailed
	case recorded, err != nil && ctx.Err() != nil: // the error says how the turn ended, or why it was stopped
	case after.Closed():
		err = cmp.Or(err, sessions.ClosedError(after))
		r.Turn.Status = sessions.TurnCancelled
	default: // another node has taken the turn, so its answer is the one that counts
		err = sessions.ErrLeaseExpired()
		r.Turn.Status = sessions.TurnCancelled
	}
	if finishErr == nil && !recorded { // another node took the turn for lost, and did not know the results of its calls
		r.S.addResults(ctx, ResultParams{Session: r.Session, Turn: r.Turn.ID, Results: r.Turn.Messages, Assigned: r.end.Assigned})
	}
	if finishErr == nil && recorded {
		r.notifyNodes(ctx)
		r.summarise(ctx, after)
	}
	if !r.isLeft() {
		_ = r.Emit(r.doneEvent(err)) // the caller may have gone; the turn is recorded
	}
	stopped := errors.Is(context.Cause(ctx), ErrStopped) && r.Turn.Status == sessions.TurnCancelled
	return Outcome{Turn: r.Turn, Session: after, Err: err, Stopped: stopped}
}

// give gives the answer of the turn, or leaves the turn to the person who has the session.
func (r *Runner) give(ctx context.Context) error {
	if r.isLeft() {
		return r.leaveToOperator()
	}
	err := r.send(ResponseStarted{
		ResponseID: r.ResponseID, TurnID: r.Turn.ID, TurnIndex: r.Turn.Index, CommandID: r.CommandID, Spoken: r.Spoken, Heard: r.Heard,
	})
	if err == nil {
		err = r.answer(ctx)
	}
	if err == nil {
		err = r.watchFatigue(ctx)
	}
	return err
}

// answer prepares the turn and runs its rounds. What was said is in r.Turn. A panic of a provider
// or tool fails the turn, not the node.
func (r *Runner) answer(ctx context.Context) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the turn panicked: %v\n%s", panicked, debug.Stack())
		}
	}()
	if err := r.admit(ctx); err != nil {
		return err
	}
	if stopped, err := r.keepBudgets(ctx); stopped || err != nil {
		return err
	}
	if stopped, err := r.guardUser(ctx, r.Input); stopped || err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	provider, err := r.answering(ctx)
	if err != nil {
		return err
	}
	provider = r.Ahead.Provider(provider)
	for range maxToolRounds {
		r.readUsedUp(ctx)
		calls, err := r.askModel(ctx, provider, r.modelRequest(true))
		if err != nil || len(calls) == 0 {
			return err
		}
		r.Turn.Metrics.ToolRounds++
		if err := r.callTools(ctx, calls); err != nil || r.stop {
			return err
		}
	}
	return r.answerInWords(ctx, provider)
}

// answerInWords asks a model that has called tools as often as a turn may, and offers it none. A
// model that calls a tool all the same is told that the call was not made, and asked once more.
func (r *Runner) answerInWords(ctx context.Context, provider model.Provider) error {
	r.Turn.Metrics.RoundsExhausted = true
	for range 2 {
		calls, err := r.askModel(ctx, provider, r.modelRequest(false))
		if err != nil || len(calls) == 0 {
			return err
		}
		if err := r.refuseRound(ctx, calls); err != nil {
			return err
		}
	}
	return nil
}
