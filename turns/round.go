package turns

import (
	"cmp"
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// callTools runs the calls of a round and puts their results into the turn, in the order of the
// calls. stop is set when the turn ends here: end_call, skip_turn, or a call that the client runs.
func (r *Runner) callTools(ctx context.Context, wanted []model.ToolCall) error {
	round := make([]*pendingCall, len(wanted))
	for i, call := range wanted {
		round[i] = r.newCall(call)
	}
	r.guardCalls(ctx, round)
	ending, err := r.guardArguments(ctx, round)
	if err == nil {
		err = r.sayFarewell(round)
	}
	if err != nil {
		return err
	}
	if err := r.recordCalls(ctx, round); err != nil {
		return err
	}
	begun := r.S.sessions.Now()
	if err := r.announce(ctx, round); err != nil {
		r.refuseAll(ctx, round, sessions.CodeUnfinished, sessions.OutputUnfinished)
		return err
	}
	inOrder(round)
	var running sync.WaitGroup
	slots := make(chan struct{}, maxParallelCalls) // a semaphore
	for _, p := range round {
		if !p.Call.Client {
			r.launch(ctx, p, slots, &running)
		}
	}
	err = r.collect(ctx, round)
	running.Wait()
	r.Receipt.Stage(sessions.StageTools, begun, r.S.sessions.Now())
	r.Turn.Metrics.ToolsMS += sessions.Milliseconds(r.S.sessions.Now().Sub(begun))
	if err == nil {
		err = r.saveResults(ctx)
	}
	if err == nil && ending != nil {
		r.stop = true
		err = r.sayReply(*ending)
	}
	return cmp.Or(err, ctx.Err())
}

// inOrder has the calls of a tool with a cap made one after the other, so that those that the model
// made first are the ones within it.
func inOrder(round []*pendingCall) {
	last := map[tools.ID]<-chan struct{}{}
	for _, p := range round {
		if p.entry.MaxCallsPerSession > 0 {
			p.after = last[p.entry.Tool.ID]
			last[p.entry.Tool.ID] = p.done
		}
	}
}

// announce tells the caller of the calls of a round, and asks for the approvals that they need.
func (r *Runner) announce(ctx context.Context, round []*pendingCall) error {
	for _, p := range round {
		if p.Call.Client {
			continue
		}
		err := r.send(ToolStarted{
			ResponseID: r.ResponseID, ItemID: p.Call.ItemID, CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments,
			System: p.system(), Kind: p.entry.Tool.Kind,
		})
		if err != nil {
			return err
		}
	}
	return r.askApprovals(ctx, round)
}

// collect waits for the results in order and applies the effects of system tools. After an error of
// Emit it still collects the results.
func (r *Runner) collect(ctx context.Context, round []*pendingCall) (err error) {
	for _, p := range round {
		if p.Call.Client {
			r.stop = true
			if err == nil {
				err = r.send(
					ClientToolCalled{ResponseID: r.ResponseID, ItemID: p.Call.ItemID, CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments},
				)
			}
			continue
		}
		result := r.awaitResult(ctx, p)
		r.Turn.Messages = append(r.Turn.Messages, result)
		recordMemory(&r.Receipt, p.entry, result)
		failed := result.Result.ErrorCode != ""
		if !failed {
			r.effect(p)
		}
		if err == nil {
			err = r.send(ToolDone{
				ResponseID: r.ResponseID, ItemID: p.Call.ItemID, CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments,
				Output: result.Text, Failed: failed, Latency: time.Duration(result.Result.LatencyMS) * time.Millisecond, Result: *result.Result,
				System: p.system(), Kind: p.entry.Tool.Kind,
			})
		}
		if err == nil && !failed {
			err = r.sendKeys(p)
		}
	}
	return err
}

// refuseRound records the calls of a model that had to answer without any. None of them is made.
func (r *Runner) refuseRound(ctx context.Context, wanted []model.ToolCall) error {
	round := make([]*pendingCall, len(wanted))
	for i, call := range wanted {
		round[i] = r.newCall(call)
		round[i].Call.Client = false
	}
	if err := r.recordCalls(ctx, round); err != nil {
		return err
	}
	r.refuseAll(ctx, round, codeRounds, "Tools had been called in as many rounds as a turn may have, so this call was not made.")
	return nil
}

// refuseAll records and traces that the calls of a round are not made. Those of the client stay
// open.
func (r *Runner) refuseAll(ctx context.Context, round []*pendingCall, code tools.Code, message string) {
	for _, p := range round {
		if !p.Call.Client {
			r.Turn.Messages = append(r.Turn.Messages, r.refuse(ctx, p, code, message))
		}
	}
}

// refuse is the result of a call that is not made. The refusal is traced as a call.
func (r *Runner) refuse(ctx context.Context, p *pendingCall, code tools.Code, message string) sessions.Message {
	p.params.Refused = &tools.Error{Code: code, Message: message}
	return r.makeCall(ctx, p)
}

// recordCalls writes the calls into the turn, and the turn into Postgres, before they run. If this
// node dies, the transcript still has them.
//
// Errors: Unavailable unavailable when they cannot be written or the turn is no longer this node's.
// Then no call may be made: another node may be making it.
func (r *Runner) recordCalls(ctx context.Context, round []*pendingCall) error {
	last := len(r.Turn.Messages) - 1
	if last < 0 || r.Turn.Messages[last].Role != sessions.RoleAssistant || len(r.Turn.Messages[last].Calls) > 0 {
		r.Turn.Messages = append(
			r.Turn.Messages,
			sessions.Message{Role: sessions.RoleAssistant, At: sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun))},
		)
		last = len(r.Turn.Messages) - 1
	}
	for _, p := range round {
		r.Turn.Messages[last].Calls = append(r.Turn.Messages[last].Calls, p.Call)
	}
	begun := r.S.sessions.Now()
	mine, err := r.save(ctx)
	r.Receipt.Stage(sessions.StagePersistence, begun, r.S.sessions.Now())
	if err == nil && !mine {
		err = sessions.ErrLeaseExpired()
	}
	return postgres.MapError(err)
}

// save writes the turn's messages before its end. mine is false when the turn is no longer this
// node's.
func (r *Runner) save(ctx context.Context) (mine bool, err error) {
	return r.S.store.Save(ctx, SaveParams{Session: r.Session, Turn: r.Turn, Response: r.Start.Response, Offline: r.offline})
}

// saveResults writes the results of a round. If this node is lost, the node that resumes the turn
// continues from there. The results of an answer that ends here are written with its end.
func (r *Runner) saveResults(ctx context.Context) error {
	if r.stop {
		return nil
	}
	mine, err := r.save(ctx)
	switch {
	case err != nil && ctx.Err() == nil: // the results become "unknown" if the node is lost now
		r.S.log.WarnContext(ctx, "results of calls not kept yet", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	case err == nil && !mine:
		return sessions.ErrLeaseExpired()
	}
	r.S.notifyFollowers(r.Turn.ID)
	return nil
}
