package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// quietFor is how long a collector that stays away is not mentioned again.
const quietFor = 10 * time.Minute

// exporter keeps a failing collector from flooding the log: OpenTelemetry's own handler would
// print every batch, past our logger, with whatever the collector answered. Batches come one
// after the other, so it needs no lock.
type exporter struct {
	sdktrace.SpanExporter
	log     *slog.Logger
	metrics *Metrics
	// secrets are taken out of what is logged: collectors like to repeat headers.
	secrets *strings.Replacer

	failing bool
	lastSay time.Time
	lost    int
}

func newExporter(next sdktrace.SpanExporter, cfg TraceConfig) *exporter {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var hidden []string
	for _, value := range cfg.Headers {
		if value == "" {
			continue
		}
		hidden = append(hidden, value, "***")
		if _, credentials, found := strings.Cut(value, " "); found && credentials != "" {
			hidden = append(hidden, credentials, "***")
		}
	}
	hidden = append(hidden, cfg.Endpoint, "the collector") // its URL may hold a password or a token
	if endpoint, err := url.Parse(cfg.Endpoint); err == nil {
		hidden = append(hidden, endpoint.String(), "the collector")
		if endpoint.User != nil {
			hidden = append(hidden, endpoint.User.String(), "***")
		}
	}
	return &exporter{SpanExporter: next, log: log, metrics: cfg.Metrics, secrets: strings.NewReplacer(hidden...)}
}

// ExportSpans implements sdktrace.SpanExporter. It returns no error: it has been dealt with.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		e.metrics.exported("exported", len(spans))
		if e.failing {
			e.log.InfoContext(ctx, "traces are exported again", "lost_spans", e.lost)
		}
		e.failing, e.lost = false, 0
		return nil
	}
	e.metrics.exported("lost", len(spans))
	e.lost += len(spans)
	now := time.Now()
	if !e.failing || now.Sub(e.lastSay) >= quietFor {
		e.log.WarnContext(ctx, "traces not exported", "lost_spans", e.lost, KeyError, e.secrets.Replace(innermost(err)))
		e.lastSay = now
	}
	e.failing = true
	return nil
}

// innermost leaves the URL out of a request's error: it may hold a password or a token.
func innermost(err error) string {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), 500)], "")
}
