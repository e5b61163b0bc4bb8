package turns

import (
	"context"

	"parlance.dev/parlance/platform/telemetry"
)

// Trace opens the turn's span and log scope. A turn of a request is part of its trace; one of a
// socket, which may be open for an hour, has a trace of its own that points to the socket's.
// Source of the names: OpenTelemetry's conventions for generative AI, agent spans.
func (r *Runner) Trace(ctx context.Context) (context.Context, *telemetry.Span) {
	var span *telemetry.Span
	if r.Origin != nil {
		ctx, span = r.Origin.Linked(ctx, "invoke_agent")
	} else {
		ctx, span = telemetry.Start(telemetry.OpenScope(ctx), telemetry.Internal, "invoke_agent")
	}
	telemetry.Note(ctx, telemetry.KeySessionID, string(r.Start.Session.ID))
	telemetry.Note(ctx, telemetry.KeyTurnID, string(r.Start.Turn))
	return ctx, span
}

// EndTrace closes the span and measures a turn that was begun.
func (r *Runner) EndTrace(span *telemetry.Span, went Outcome) {
	span.Set(telemetry.Text("gen_ai.operation.name", "invoke_agent"), telemetry.Text("gen_ai.provider.name", "parlance"),
		telemetry.Text("gen_ai.agent.id", string(went.Session.AgentID)), telemetry.Text("gen_ai.conversation.id", string(r.Start.Session.ID)),
		telemetry.Number("gen_ai.usage.input_tokens", went.Turn.InputTokens), telemetry.Number("gen_ai.usage.output_tokens", went.Turn.OutputTokens))
	span.End(went.Err)
	if went.Turn.Status != "" {
		r.S.metrics.took(went.Turn.Status, r.S.sessions.Now().Sub(r.Begun), r.firstToken)
	}
}

// record writes the turn's end within a span.
func (r *Runner) record(ctx context.Context) (finished Finished, err error) {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "record turn")
	defer func() { span.End(err) }()
	return r.recordEnd(ctx)
}
