package turns

import (
	"context"

	"parlance.dev/parlance/platform/telemetry"
)

// startTrace opens the turn's span and log scope. A turn of a request is part of the request's
// trace. One of a socket, which may be open for an hour, has a trace of its own that points to the
// socket's. Source of the names: OpenTelemetry's conventions for generative AI, agent spans.
func (r *Runner) startTrace(ctx context.Context) (context.Context, *telemetry.Span) {
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

// endTrace closes the span and measures a turn that was begun.
func (r *Runner) endTrace(span *telemetry.Span, outcome Outcome) {
	span.Set(
		telemetry.Text("gen_ai.operation.name", "invoke_agent"),
		telemetry.Text("gen_ai.provider.name", "parlance"),
		telemetry.Text("gen_ai.agent.id", string(outcome.Session.AgentID)),
		telemetry.Text("gen_ai.conversation.id", string(r.Start.Session.ID)),
		telemetry.Number(
			"gen_ai.usage.input_tokens",
			outcome.Turn.InputTokens,
		),
		telemetry.Number("gen_ai.usage.output_tokens", outcome.Turn.OutputTokens),
	)
	span.End(outcome.Err)
	if outcome.Turn.Status != "" {
		r.S.metrics.observe(outcome.Turn.Status, r.S.sessions.Now().Sub(r.Begun), r.firstToken)
	}
}
