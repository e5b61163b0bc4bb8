// Package telemetry makes what an operator watches: logs (slog), metrics (Prometheus) and
// traces (OpenTelemetry). Nothing here is global: constructors pass on what is made.
//
// Logs are JSON lines, or text on a terminal; messages are constant, keys are those of
// keys.go, and Error means that a person must act. Metrics are named parlance_<what>_<unit>.
// Traces go to an OTLP/HTTP endpoint when one is configured and nowhere otherwise.
package telemetry
