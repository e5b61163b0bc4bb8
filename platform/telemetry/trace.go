package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// TraceConfig says where traces go.
type TraceConfig struct {
	// Endpoint is the URL of an OTLP/HTTP collector, e.g. http://127.0.0.1:4318/v1/traces. Empty
	// means no traces.
	Endpoint string
	// Headers are sent with each export; they may be secret.
	Headers map[string]string
	// Client makes the requests: publicnet's OperatorClient for Endpoint.
	Client *http.Client
	// Service and Version name this process: "parlance-server".
	Service string
	Version string
	// SampleRatio of traces is kept, from 0 to 1. A caller's trace that is not sampled is not kept
	// either; one that is counts like a new one, for anybody can send the flag.
	SampleRatio float64
	// Log gets a record when exports begin to fail and when they work again; nil discards it.
	Log *slog.Logger
	// Metrics counts exported and lost spans; nil: they are not counted.
	Metrics *Metrics
}

// Traces is a tracer provider and the end of it.
type Traces struct {
	trace.TracerProvider
	// off says that there is no endpoint.
	off      bool
	shutdown func(context.Context) error
}

// NewTraces makes a provider which exports in batches, or one that does nothing without an
// endpoint. An endpoint that is away costs traces, not requests.
func NewTraces(ctx context.Context, cfg TraceConfig) (*Traces, error) {
	if cfg.Endpoint == "" {
		return &Traces{TracerProvider: noop.NewTracerProvider(), off: true, shutdown: func(context.Context) error { return nil }}, nil
	}
	if cfg.Client == nil {
		return nil, errors.New("an OTLP endpoint needs an HTTP client")
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(cfg.Endpoint), otlptracehttp.WithHeaders(cfg.Headers), otlptracehttp.WithHTTPClient(cfg.Client))
	if err != nil {
		return nil, fmt.Errorf("making the trace exporter: %w", err)
	}
	ratio := sdktrace.TraceIDRatioBased(cfg.SampleRatio)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(newExporter(exporter, cfg)),
		sdktrace.WithSampler(sdktrace.ParentBased(ratio, sdktrace.WithRemoteParentSampled(ratio))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", cfg.Service), attribute.String("service.version", cfg.Version))),
	)
	return &Traces{TracerProvider: provider, shutdown: provider.Shutdown}, nil
}

// Shutdown sends what is left and ends the provider; ctx bounds the sending.
func (t *Traces) Shutdown(ctx context.Context) error {
	if err := t.shutdown(ctx); err != nil {
		return fmt.Errorf("ending the traces: %w", err)
	}
	return nil
}

// Propagator carries trace ids in and out of requests: W3C traceparent, and no baggage, for
// what a caller puts there is not ours to pass on.
func Propagator() propagation.TextMapPropagator { return propagation.TraceContext{} }
