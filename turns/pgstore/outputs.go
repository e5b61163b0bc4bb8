package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// output is a client's result of a call that a new turn begins with.
type output struct {
	message sessions.Message
	// asked is the turn that the call was made in.
	asked  sessions.TurnID
	traced tools.ClientCall
}

// findCalls finds the calls that a new turn brings results of. A result that comes in between is
// found by takeLease. Errors: Invalid invalid-request on tool_outputs[i].call_id.
func (s *Store) findCalls(ctx context.Context, b *beginning, now time.Time) error {
	if b.outputs = nil; len(b.New.Outputs) == 0 {
		return nil
	}
	return s.sessions.Locked(ctx, b.Session.TenantID, b.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) error {
		b.outputs = nil
		if err := sessions.CheckOpen(*row); err != nil {
			return err
		}
		for i, said := range b.New.Outputs {
			asked, err := sessions.TurnOfOpenCallTx(ctx, tx, *row, said.CallID)
			if decided := fault.From(err); err != nil && decided.Reason == fault.InvalidRequest {
				return fault.InvalidField(fmt.Sprintf("tool_outputs[%d].call_id", i), decided.Fields[0].Code, "%s", decided.Fields[0].Message)
			}
			if err != nil {
				return err
			}
			b.outputs = append(b.outputs, newOutput(*row, asked, said, now))
		}
		return nil
	})
}

// newOutput is a result with what its call says.
func newOutput(session sessions.Session, asked sessions.Turn, said sessions.Message, now time.Time) output {
	result := *said.Result
	said.Result = &result
	one := output{asked: asked.ID}
	for _, call := range sessions.OpenCalls([]sessions.Turn{asked}) {
		if call.ID != said.CallID {
			continue
		}
		result.ToolID, result.StartedAt = tools.ClientPrefix+call.Name, call.AskedAt
		result.LatencyMS = sessions.Milliseconds(now.Sub(call.AskedAt))
		one.traced = sessions.TracedCall(session, call, said.Text, result)
	}
	one.message = said
	return one
}

// putBeside puts a result beside its call when the turn that brings it was written in this
// transaction. A turn that still runs gets the result with its end. Parameters: $1 tenant, $2
// session, $3 the turns that may bring it, $4 the turn of the call, $5 the result.
const putBeside = `
	UPDATE turns AS t
	SET messages = ` + appendMessage + `
	WHERE t.tenant_id = $1::text AND t.session_id = $2::text AND t.id = $4::text AND t.status <> 'in_progress'
	  AND EXISTS (
	      SELECT FROM turns AS n
	      WHERE n.tenant_id = $1::text AND n.session_id = $2::text AND n.id = ANY ($3::text[]) AND n.xmin = pg_current_xact_id()::xid
	  )`

func putBesideStep(session sessions.Session, asked sessions.TurnID, result []byte, bringing ...string) postgres.Step {
	return postgres.Step{
		SQL: putBeside, Args: []any{string(session.TenantID), string(session.ID), bringing, string(asked), string(result)},
	}
}

// appendOutputSteps appends the steps that put a new turn's results beside their calls.
func appendOutputSteps(steps []postgres.Step, b beginning) ([]postgres.Step, error) {
	for _, one := range b.outputs {
		text, err := jsonText(one.message)
		if err != nil {
			return nil, err
		}
		steps = append(steps, putBesideStep(b.Session, one.asked, text, string(b.Turn)))
	}
	return steps, nil
}
