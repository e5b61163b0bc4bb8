package turns

import (
	"context"
	"fmt"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools/failure"
)

// runCall runs one call and returns its message. A call that is not idempotent runs to its end even
// if the answer is cancelled meanwhile: half of it may have happened already.
func (r *Runner) runCall(ctx context.Context, p *pendingCall) (result sessions.Message) {
	begun := r.S.sessions.Now()
	defer func() {
		if panicked := recover(); panicked != nil {
			r.S.log.ErrorContext(
				ctx,
				"tool panicked",
				"session_id",
				p.params.SessionID,
				"turn_id",
				p.params.TurnID,
				"tool",
				p.Call.Name,
				"panic",
				fmt.Sprint(panicked),
			)
			result = r.refused(p, begun, string(failure.Internal), "The tool failed inside the service. Go on without it.")
		}
	}()
	switch {
	case !p.known && p.refusal != nil:
		return r.refused(p, begun, string(p.refusal.Code), p.refusal.Message)
	case !p.known && p.malformed != "":
		return r.refused(
			p,
			begun,
			string(failure.ArgumentsInvalid),
			"The arguments were not a JSON object. Call the tool again with arguments that match its schema.",
		)
	case !p.known:
		return r.refused(p, begun, codeUnknownTool, "There is no tool named "+p.Call.Name+" here, or it is off. Answer without it.")
	}
	var word *sessions.CallApproval
	if p.params.Refused = p.refusal; p.refusal == nil {
		word, p.params.Refused = r.approved(ctx, p)
	}
	if ctx.Err() != nil {
		result = r.refused(p, begun, sessions.CodeUnfinished, sessions.OutputUnfinished)
		result.Result.Approval = word
		return result
	}
	if !p.entry.Idempotent() {
		var cancel context.CancelFunc
		ctx, cancel = r.S.detach(ctx)
		defer cancel()
	}
	p.params.Untracked = r.offline || r.S.Offline()
	outcome := r.S.tools.Call(ctx, p.params)
	r.S.KeepTrace(ctx, TraceParams{
		Session: p.session, Turn: sessions.TurnID(p.params.TurnID), Offline: r.offline, Trace: outcome.Untraced,
	})
	result = sessions.Message{
		Role: sessions.RoleTool, ItemID: p.Call.ItemID, CallID: p.Call.ID, Text: sessions.StorableText(outcome.Output),
		At: sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun)),
		Result: &sessions.CallResult{
			ToolID: string(p.entry.Tool.ID), StatusCode: outcome.StatusCode, LatencyMS: sessions.Milliseconds(outcome.Latency),
			Attempts: outcome.Attempts, StartedAt: outcome.StartedAt, Approval: word,
		},
	}
	if outcome.StartedAt.IsZero() {
		result.Result.StartedAt = begun
	}
	if outcome.Error != nil {
		result.Result.ErrorCode, result.Result.ErrorMessage = string(outcome.Error.Code), outcome.Error.Message
		return result
	}
	p.assigned, result.Result.Assigned = assignments(p.entry.Tool.Config.Assignments, outcome)
	return result
}

// assign sets variables for the rest of the turn, and for the session when the turn is recorded.
func (r *Runner) assign(values map[string]string) {
	if len(values) == 0 {
		return
	}
	if r.end.Assigned == nil {
		r.end.Assigned = map[string]string{}
	}
	MergeAssigned(&r.Session, values)
	for name := range values {
		if value, kept := r.Session.AssignedVariables[name]; kept {
			r.end.Assigned[name] = value
		}
	}
	r.values = r.values.With(r.end.Assigned)
}
