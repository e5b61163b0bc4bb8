package conversation

import (
	"context"

	"parlance.dev/parlance/platform/telemetry"
)

// trace opens the turn's span and log scope. A turn of a request is part of its trace; one of a
// socket, which may be open for an hour, has a trace of its own that points to the socket's.
// Source of the names: OpenTelemetry's conventions for generative AI, agent spans.
func (r *runner) trace(ctx context.Context) (context.Context, *telemetry.Span) {
	var span *telemetry.Span
	if r.origin != nil {
		ctx, span = r.origin.Linked(ctx, "invoke_agent")
	} else {
		ctx, span = telemetry.Start(telemetry.OpenScope(ctx), telemetry.Internal, "invoke_agent")
	}
	telemetry.Note(ctx, telemetry.KeySessionID, string(r.start.session))
	telemetry.Note(ctx, telemetry.KeyTurnID, string(r.start.turn))
	return ctx, span
}

// endTrace closes the span and measures a turn that was begun.
func (r *runner) endTrace(span *telemetry.Span, went ran) {
	span.Set(telemetry.Text("gen_ai.operation.name", "invoke_agent"), telemetry.Text("gen_ai.provider.name", "parlance"),
		telemetry.Text("gen_ai.agent.id", string(went.session.AgentID)), telemetry.Text("gen_ai.conversation.id", string(r.start.session)),
		telemetry.Number("gen_ai.usage.input_tokens", went.turn.InputTokens), telemetry.Number("gen_ai.usage.output_tokens", went.turn.OutputTokens))
	span.End(went.err)
	if went.turn.Status != "" {
		r.s.metrics.took(went.turn.Status, r.s.moment().Sub(r.begun), r.firstToken)
	}
}

// record writes the turn's end within a span.
func (r *runner) record(ctx context.Context) (after Session, recorded bool, err error) {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "record turn")
	defer func() { span.End(err) }()
	return r.s.finish(ctx, r.session, &r.turn, r.with, r.adrift)
}
