package webhooks

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// newDurations measures attempts. Without a registry nobody sees it.
func newDurations(registry prometheus.Registerer) *prometheus.HistogramVec {
	return promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "parlance_webhook_attempt_duration_seconds",
		Help:    "Attempts to deliver an event, to the end of the answer; status is succeeded or failed.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15},
	}, []string{telemetry.KeyStatus})
}
