package tools

import (
	"context"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures calls; without a registry nobody sees it.
type metrics struct {
	calls *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "parlance_tool_call_duration_seconds", Help: "Calls of tools, repetitions included, by kind of tool; result is ok or the call's error code.",
		Buckets: []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 120},
	}, []string{telemetry.KeyKind, telemetry.KeyResult})}
	if registry != nil {
		registry.MustRegister(m.calls)
	}
	return m
}

// startCall begins the span of a logical call. Arguments and results are a conversation's
// content and are not in it. Source of the names: OpenTelemetry's conventions for generative AI.
func startCall(ctx context.Context, p CallParams) (context.Context, *telemetry.Span) {
	return telemetry.Start(ctx, telemetry.Internal, "execute_tool "+p.Entry.Name,
		telemetry.Text("gen_ai.operation.name", "execute_tool"), telemetry.Text("gen_ai.tool.name", p.Entry.Name),
		telemetry.Text("gen_ai.tool.call.id", p.CallID), telemetry.Text("parlance.tool_id", string(p.Entry.Tool.ID)))
}

func (s *Service) endCall(span *telemetry.Span, p CallParams, o Outcome) {
	kind, result := string(p.Entry.Tool.Kind), "ok"
	if p.Entry.Tool.Bucket != BucketCustom {
		kind = string(p.Entry.Tool.Bucket)
	}
	span.Set(telemetry.Number("parlance.attempts", o.Attempts))
	if o.Error != nil {
		result = string(o.Error.Code)
		span.Fail(result)
	}
	span.End(nil)
	s.metrics.calls.WithLabelValues(kind, result).Observe(o.Latency.Seconds())
}

// startAttempt begins the span of one request and writes its trace into the request, so that the
// endpoint's own spans join it. The URL is left out but for the host: it may hold secrets.
func startAttempt(ctx context.Context, request *http.Request) *telemetry.Span {
	ctx, span := telemetry.Start(ctx, telemetry.Client, request.Method,
		telemetry.Text("http.request.method", request.Method), telemetry.Text("server.address", request.URL.Hostname()))
	telemetry.Propagate(ctx, request.Header)
	return span
}

func endAttempt(span *telemetry.Span, last attempt) {
	if last.status != 0 {
		span.Set(telemetry.Number("http.response.status_code", last.status))
	}
	switch {
	case last.err != nil:
		span.Fail("connection")
	case last.status >= http.StatusBadRequest:
		span.Fail(strconv.Itoa(last.status))
	}
	span.End(nil)
}
