package webhooks

import (
	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures attempts; without a registry nobody sees it.
type metrics struct {
	attempts *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "parlance_webhook_attempt_duration_seconds", Help: "Attempts to deliver an event, to the end of the answer; status is succeeded or failed.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15},
	}, []string{telemetry.KeyStatus})}
	if registry != nil {
		registry.MustRegister(m.attempts)
	}
	return m
}

// attempted counts an attempt that was not abandoned.
func (m metrics) attempted(o outcome, ok bool) {
	if ok {
		m.attempts.WithLabelValues(string(o.status())).Observe(o.Duration.Seconds())
	}
}
