package turns

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// A call that the client runs ends the answer it was made in:
//
//	ClientToolCalled ──► client ──► ToolOutput, Respond ──► the next answer
//	                       └── nothing within the agent's client_tool_timeout_seconds ──► the model is told
//
// The call stands in its turn's row and its result in a later one, so that any socket of the session
// can bring the result, also after a reconnect to another node. The engine only keeps the time, and
// holds back answers until all calls of the one before have their results.

const (
	// MaxClientOutputBytes bounds what a client may answer to a call.
	MaxClientOutputBytes = 256 << 10
	ClientToolFailed     = "The client's tool failed."
)

// takeOutputs puts a client's results into a new turn and beside their calls. The session's row is
// locked. Errors: Invalid invalid-request on tool_outputs[i].call_id.
func takeOutputs(ctx context.Context, tx bun.Tx, session sessions.Session, start Start, turn *sessions.Turn, now time.Time) error {
	var answered []tools.ClientCall
	for i, said := range start.outputs {
		asked, err := sessions.TurnAskingTx(ctx, tx, session, said.CallID)
		if decided := fault.From(err); err != nil && decided.Reason == fault.InvalidRequest {
			return fault.InvalidField(fmt.Sprintf("tool_outputs[%d].call_id", i), decided.Fields[0].Code, "%s", decided.Fields[0].Message)
		}
		if err != nil {
			return err
		}
		result := *said.Result
		for _, call := range sessions.OpenCalls([]sessions.Turn{asked}) {
			if call.ID != said.CallID {
				continue
			}
			result.ToolID, result.StartedAt = tools.ClientPrefix+call.Name, call.Begun
			result.LatencyMS = sessions.Milliseconds(now.Sub(call.Begun))
			answered = append(answered, sessions.TracedCall(session, call, said.Text, result))
		}
		said.Result = &result
		if asked.Status != sessions.TurnInProgress { // else finish does it
			asked.Messages = append(asked.Messages, said)
			if err := sessions.RewriteMessages(ctx, tx, asked); err != nil {
				return err
			}
		}
		turn.Messages = append(turn.Messages, said)
	}
	if start.answered != nil {
		*start.answered = answered
	}
	return nil
}

// adoptResults puts results that came in before a turn was recorded beside their calls.
func adoptResults(ctx context.Context, tx bun.Tx, session sessions.Session, turn *sessions.Turn) error {
	open := sessions.OpenCalls([]sessions.Turn{*turn})
	if len(open) == 0 {
		return nil
	}
	turns, err := sessions.AllTurns(ctx, tx, session)
	if err != nil {
		return err
	}
	for _, call := range open {
		for _, later := range turns {
			for _, m := range later.Messages {
				if m.Role == sessions.RoleTool && m.CallID == call.ID {
					turn.Messages = append(turn.Messages, m)
				}
			}
		}
	}
	return nil
}
