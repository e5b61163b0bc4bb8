package sessions

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/tools"
)

// OpenCall is a call that waits for its client's result.
type OpenCall struct {
	Turn      TurnID
	ID        string
	Name      string
	Arguments json.RawMessage
	AskedAt   time.Time
	// LaterTurnEnded says that a later turn is over: the model gets no answer when the call times
	// out.
	LaterTurnEnded bool
}

// OpenCalls returns the client's calls that have no result yet.
func OpenCalls(turns []Turn) []OpenCall {
	answered := answeredCalls(turns)
	var open []OpenCall
	for i, turn := range turns {
		past := slices.ContainsFunc(turns[i+1:], func(later Turn) bool { return later.Status != TurnInProgress })
		for _, m := range turn.Messages {
			for _, call := range m.Calls {
				if call.Client && !m.Inserted && !answered[call.ID] {
					asked := turn.StartedAt.Add(time.Duration(m.At) * time.Millisecond)
					open = append(open, OpenCall{
						Turn: turn.ID, ID: call.ID, Name: call.Name, Arguments: call.Arguments, AskedAt: asked, LaterTurnEnded: past,
					})
				}
			}
		}
	}
	return open
}

// answeredCalls returns the ids of the calls that have a result.
func answeredCalls(turns []Turn) map[string]bool {
	answered := map[string]bool{}
	for _, turn := range turns {
		for id := range resultsOf(turn.Messages) {
			answered[id] = true
		}
	}
	return answered
}

// OpenClientCalls returns the calls of the turn that its client has not answered.
func (t Turn) OpenClientCalls() []ToolCall {
	open := map[string]bool{}
	for _, call := range OpenCalls([]Turn{t}) {
		open[call.ID] = true
	}
	return slices.DeleteFunc(t.ToolCalls(), func(c ToolCall) bool { return !open[c.ID] })
}

// ClientToolTimeout is how long the agent's clients have for a call.
func ClientToolTimeout(config agents.Config) time.Duration {
	if config.ClientToolTimeoutSeconds > 0 {
		return time.Duration(config.ClientToolTimeoutSeconds) * time.Second
	}
	return agents.DefaultClientToolTimeoutSeconds * time.Second
}

// TracedCall returns a client's call with its result, as package tools stores it.
func TracedCall(session Session, call OpenCall, output string, result CallResult) tools.ClientCall {
	traced := tools.ClientCall{
		Ref: session.Ref(), AgentID: session.AgentID, SessionID: string(session.ID), TurnID: string(call.Turn),
		CallID: call.ID, Name: call.Name, Arguments: call.Arguments,
		Output: output, StartedAt: call.AskedAt, Latency: time.Duration(result.LatencyMS) * time.Millisecond,
		PII: session.Redactor(),
	}
	if result.ErrorCode != "" {
		traced.Error = &tools.Error{Code: tools.Code(result.ErrorCode), Message: result.ErrorMessage}
	}
	return traced
}

// TurnOfOpenCallTx returns the turn that made a client's call which has no result yet. The
// session's row must be locked. Errors: Invalid invalid-request on call_id.
func TurnOfOpenCallTx(ctx context.Context, tx bun.Tx, session Session, callID string) (Turn, error) {
	turns, err := TurnsWithItem(ctx, tx, session, callID)
	if err != nil {
		return Turn{}, err
	}
	if answeredCalls(turns)[callID] {
		return Turn{}, fault.InvalidField("call_id", "answered",
			"The call %q has its result already: it was answered, or its time was over.", callID)
	}
	for _, turn := range turns {
		for _, m := range turn.Messages {
			if slices.ContainsFunc(m.Calls, func(c MessageCall) bool { return c.Client && c.ID == callID }) {
				return turn, nil
			}
		}
	}
	return Turn{}, fault.InvalidField("call_id", "unknown", "No call %q was made by this session for a client to answer.", callID)
}

// settleClientCalls gives a result to the calls that clients have not answered, because the session
// is closing.
func settleClientCalls(ctx context.Context, tx bun.Tx, turns []Turn) error {
	open := OpenCalls(turns)
	for i := range turns {
		changed := false
		for _, call := range open {
			if call.Turn != turns[i].ID {
				continue
			}
			changed = true
			turns[i].Messages = append(turns[i].Messages, Message{
				Role: RoleTool, CallID: call.ID, Text: ErrorText(CodeUnknown, outputSessionEnded),
				Result: &CallResult{
					ToolID: tools.ClientPrefix + call.Name, StartedAt: call.AskedAt,
					ErrorCode: CodeUnknown, ErrorMessage: outputSessionEnded,
				},
			})
		}
		if !changed {
			continue
		}
		if err := RewriteMessages(ctx, tx, turns[i]); err != nil {
			return err
		}
	}
	return nil
}
