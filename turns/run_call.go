package turns

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// runCall runs one call and returns its message. A call that is not idempotent runs to its end even
// if the answer is cancelled meanwhile: half of it may have happened already.
func (r *Runner) runCall(ctx context.Context, p *pendingCall) (result sessions.Message) {
	begun := r.S.sessions.Now()
	defer func() {
		if panicked := recover(); panicked != nil {
			r.S.log.ErrorContext(ctx, "tool panicked", "session_id", p.params.SessionID, "turn_id", p.params.TurnID,
				"tool", p.Call.Name, "panic", fmt.Sprint(panicked))
			result = r.refused(p, begun, string(failure.Internal), "The tool failed inside the service. Go on without it.")
		}
	}()
	var word *sessions.CallApproval
	if p.params.Refused = p.refused(); p.params.Refused == nil {
		word, p.params.Refused = r.approved(ctx, p)
	}
	if ctx.Err() != nil {
		p.params.Refused = &tools.Error{Code: sessions.CodeUnfinished, Message: sessions.OutputUnfinished}
	}
	result = r.makeCall(ctx, p)
	result.Result.Approval = word
	return result
}

// refused is why a call is not made, nil: nothing is known against it.
func (p *pendingCall) refused() *tools.Error {
	switch {
	case p.refusal != nil:
		return p.refusal
	case p.known:
		return nil
	case p.malformed != "":
		return &tools.Error{
			Code: failure.ArgumentsInvalid,
			Message: cmp.Or(jsonvalue.Unkeepable(json.RawMessage(p.malformed)), "The arguments were not a JSON object.") +
				" Call the tool again with arguments that match its schema.",
		}
	}
	return &tools.Error{Code: codeUnknownTool, Message: "There is no tool named " + p.Call.Name + " here, or it is off. Answer without it."}
}

// makeCall has package tools make a call, or only trace it when it is refused, and returns its
// message.
func (r *Runner) makeCall(ctx context.Context, p *pendingCall) sessions.Message {
	begun := r.S.sessions.Now()
	switch {
	case p.params.Refused != nil:
		ctx = context.WithoutCancel(ctx) // only the trace is stored
	case !p.entry.Idempotent():
		var cancel context.CancelFunc
		ctx, cancel = r.S.detach(ctx)
		defer cancel()
	}
	p.params.Untracked = r.offline || r.S.Offline()
	outcome := r.S.tools.Call(ctx, p.params)
	r.S.KeepTrace(ctx, TraceParams{
		Session: p.session, Turn: sessions.TurnID(p.params.TurnID), Offline: r.offline, Trace: outcome.Untraced,
	})
	result := sessions.Message{
		Role: sessions.RoleTool, ItemID: p.Call.ItemID, CallID: p.Call.ID, Text: sessions.StorableText(outcome.Output),
		At: sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun)),
		Result: &sessions.CallResult{
			ToolID: string(p.entry.Tool.ID), StatusCode: outcome.StatusCode, LatencyMS: sessions.Milliseconds(outcome.Latency),
			Attempts: outcome.Attempts, StartedAt: outcome.StartedAt,
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
