package tools

import (
	"context"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/tools/failure"
)

// Call calls a tool and traces the call. A failure is in Outcome.Error: a model is told in any case
// what happened. When ctx ends, the call fails with failure.Canceled.
func (s *Service) Call(ctx context.Context, p CallParams) Outcome {
	if !idgen.Valid(idgen.ToolCall, p.CallID) {
		p.CallID = idgen.New(idgen.ToolCall)
	}
	ctx, span := startCall(ctx, p)
	started := s.now()
	o := Outcome{CallID: p.CallID, StartedAt: s.timestamp()}
	e, err := s.newExecution(ctx, p)
	if err != nil {
		o.Error = s.internal(ctx, "open tool", err)
	} else if o.Error = s.admit(ctx, e); o.Error == nil {
		s.execute(ctx, e, &o)
	}
	o.Latency = s.now().Sub(started)
	s.metrics.endCall(span, p, o)
	e.redactOutcome(&o)
	o.setOutput()
	o.Untraced = s.trace(ctx, e, o)
	return o
}

// admit checks what can be checked before the request is rendered.
func (s *Service) admit(ctx context.Context, e *execution) *Error {
	if e.Refused != nil {
		return e.Refused
	}
	if !e.Entry.Enabled {
		return e.Entry.refusal()
	}
	arguments, fields, err := s.checkArguments(e.Entry.InputSchema, e.Arguments)
	e.arguments = arguments
	switch {
	case err != nil:
		return s.internal(context.WithoutCancel(ctx), "check arguments", err)
	case len(fields) == 0:
		return nil
	}
	return failure.New(failure.ArgumentsInvalid,
		"The arguments do not match the tool's input_schema. %s Correct them and call the tool again.", fieldText(fields))
}

func (s *Service) execute(ctx context.Context, e *execution, o *Outcome) {
	switch {
	case e.Entry.Tool.Bucket != BucketCustom:
		s.callBuiltin(ctx, e, o)
	case e.Entry.Tool.Kind == KindMCP:
		s.callMCP(ctx, e, o)
	default:
		s.callHTTP(ctx, e, o)
	}
}

// PutTrace stores a trace that Call returned because it could not be stored. Repeating it does
// nothing.
func (s *Service) PutTrace(ctx context.Context, row Call) error { return insertCall(ctx, s.db, row) }
