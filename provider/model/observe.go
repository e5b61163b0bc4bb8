package model

import (
	"cmp"
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// Metrics measures calls of models. All providers of a process share it.
type Metrics struct {
	requests    *prometheus.HistogramVec
	firstTokens *prometheus.HistogramVec
	tokens      *prometheus.CounterVec
	failovers   *prometheus.CounterVec
	opens       *prometheus.CounterVec
}

// NewMetrics makes and registers the metrics. The label provider is Provider.Name. There is no
// label for the model, because agents may name any.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	seconds := []float64{0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 25, 50, 100, 200}
	registered := promauto.With(registry)
	return &Metrics{
		requests: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_model_request_duration_seconds",
			Help:    "Calls of models to the end of the answer; result is ok or the error's reason.",
			Buckets: seconds,
		}, []string{telemetry.KeyProvider, telemetry.KeyResult}),
		firstTokens: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parlance_model_first_token_seconds", Help: "Calls of models to the first piece of the answer.", Buckets: seconds,
		}, []string{telemetry.KeyProvider}),
		tokens: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_model_tokens_total", Help: "Tokens as the servers reported them; direction is input or output.",
		}, []string{telemetry.KeyProvider, "direction"}),
		failovers: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_model_failovers_total",
			Help: "Answers that the next provider of an agent was asked for; reason is the error's, circuit-open or empty-answer.",
		}, []string{telemetry.KeyProvider, telemetry.KeyReason}),
		opens: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_model_circuits_opened_total", Help: "Times that a provider was left alone for a while after failures in a row.",
		}, []string{telemetry.KeyProvider}),
	}
}

// opened counts a circuit that opened. A nil Metrics does nothing.
func (m *Metrics) opened(provider string) {
	if m != nil {
		m.opens.WithLabelValues(provider).Inc()
	}
}

// Observe wraps a provider to trace and measure its calls. model is the model of requests that name
// none. Spans follow OpenTelemetry's conventions for generative AI and never contain text of the
// conversation.
func Observe(p Provider, model string, m *Metrics, now func() time.Time) Provider {
	return observed{Provider: p, model: model, metrics: m, now: now}
}

type observed struct {
	Provider
	model   string
	metrics *Metrics
	now     func() time.Time
}

// Stream implements Provider.
func (o observed) Stream(ctx context.Context, req Request, emit func(Event) error) (Result, error) {
	asked := cmp.Or(req.Model, o.model, o.Name())
	ctx, span := telemetry.Start(ctx, telemetry.Client, "chat "+asked,
		telemetry.Text("gen_ai.operation.name", "chat"), telemetry.Text("gen_ai.provider.name", o.Name()),
		telemetry.Text("gen_ai.request.model", asked), telemetry.Number("gen_ai.request.max_tokens", req.MaxOutputTokens))
	begun, first := o.now(), time.Duration(0)
	result, err := o.Provider.Stream(ctx, req, func(e Event) error {
		if first == 0 {
			first = max(1, o.now().Sub(begun))
		}
		return emit(e)
	})
	o.measure(result, err, o.now().Sub(begun), first)
	span.Set(telemetry.Text("gen_ai.response.model", cmp.Or(result.Model, asked)),
		telemetry.Number("gen_ai.usage.input_tokens", result.Usage.InputTokens),
		telemetry.Number("gen_ai.usage.output_tokens", result.Usage.OutputTokens))
	if result.FinishReason != "" {
		span.Set(telemetry.Texts("gen_ai.response.finish_reasons", string(result.FinishReason)))
	}
	span.End(err)
	return result, err
}

func (o observed) measure(result Result, err error, took, first time.Duration) {
	outcome := "ok"
	if err != nil {
		outcome = telemetry.ErrorType(err)
	}
	o.metrics.requests.WithLabelValues(o.Name(), outcome).Observe(took.Seconds())
	if first > 0 {
		o.metrics.firstTokens.WithLabelValues(o.Name()).Observe(first.Seconds())
	}
	o.metrics.tokens.WithLabelValues(o.Name(), "input").Add(float64(max(0, result.Usage.InputTokens)))
	o.metrics.tokens.WithLabelValues(o.Name(), "output").Add(float64(max(0, result.Usage.OutputTokens)))
}
