package tools

import (
	"cmp"
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures calls.
type metrics struct {
	calls *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "parlance_tool_call_duration_seconds",
		Help:    "Calls of tools, repetitions included, by kind of tool; result is ok or the call's error code.",
		Buckets: []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 120},
	}, []string{telemetry.KeyKind, telemetry.KeyResult})}
	if registry != nil {
		registry.MustRegister(m.calls)
	}
	return m
}

// startCall begins the span of a call. It has no arguments and results, which are content of the
// conversation. Source of the names: OpenTelemetry's conventions for generative AI.
func startCall(ctx context.Context, p CallParams) (context.Context, *telemetry.Span) {
	return telemetry.Start(ctx, telemetry.Internal, "execute_tool "+p.Entry.Name,
		telemetry.Text("gen_ai.operation.name", "execute_tool"), telemetry.Text("gen_ai.tool.name", p.Entry.Name),
		telemetry.Text("gen_ai.tool.call.id", p.CallID), telemetry.Text("parlance.tool_id", string(p.Entry.Tool.ID)))
}

// endCall ends the span of a call and measures it.
func (m metrics) endCall(span *telemetry.Span, p CallParams, o Outcome) {
	kind, result := string(p.Entry.Tool.Kind), "ok"
	if p.Entry.Tool.Bucket != BucketCustom {
		kind = string(p.Entry.Tool.Bucket)
	}
	kind = cmp.Or(kind, "unknown") // a name that the registry does not have
	span.Set(telemetry.Number("parlance.attempts", o.Attempts))
	if o.Error != nil {
		result = string(o.Error.Code)
		span.Fail(result)
	}
	span.End(nil)
	m.calls.WithLabelValues(kind, result).Observe(o.Latency.Seconds())
}
