package worker

import (
	"context"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/telemetry"
)

// startRelay begins the span of an event's relay, in the trace that appended it.
func startRelay(ctx context.Context, row events.Row) (context.Context, *telemetry.Span) {
	return telemetry.Start(row.Origin().Context(ctx), telemetry.Consumer, "relay "+string(row.Type),
		telemetry.Text("messaging.system", "parlance_outbox"), telemetry.Text("messaging.destination.name", string(row.Type)),
		telemetry.Text("messaging.operation.name", "relay"), telemetry.Text("messaging.operation.type", "receive"),
		telemetry.Text("messaging.message.id", row.EventID))
}

// startRelays begins the spans of a batch; each event has a trace of its own.
func startRelays(ctx context.Context, rows []events.Row) []*telemetry.Span {
	spans := make([]*telemetry.Span, len(rows))
	for i, row := range rows {
		_, spans[i] = startRelay(ctx, row)
	}
	return spans
}

func endAll(spans []*telemetry.Span, err error) {
	for _, span := range spans {
		span.End(err)
	}
}
