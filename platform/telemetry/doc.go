// Package telemetry makes what an operator watches: logs (slog), metrics (Prometheus) and
// traces (OpenTelemetry). Nothing here is global: what is made is handed on by constructors.
//
// Logs are JSON lines, or text on a terminal; messages are constant, keys are those of
// keys.go, and Error means that a person must act. Metrics are named parlance_<what>_<unit>.
// Traces go to an OTLP/HTTP endpoint when one is configured and nowhere otherwise.
package telemetry
