package webhooks

import (
	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures attempts.
type metrics struct {
	attempts *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "parlance_webhook_attempt_duration_seconds",
		Help:    "Attempts to deliver an event, to the end of the answer; status is succeeded or failed.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15},
	}, []string{telemetry.KeyStatus})}
	if registry != nil {
		registry.MustRegister(m.attempts)
	}
	return m
}

func (m metrics) observe(o outcome) {
	m.attempts.WithLabelValues(string(o.status())).Observe(o.Duration.Seconds())
}
