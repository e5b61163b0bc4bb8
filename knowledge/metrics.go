package knowledge

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures retrieval. Without a registry nobody sees it.
type metrics struct{ retrieval, reranking *prometheus.HistogramVec }

func newMetrics(registry prometheus.Registerer) metrics {
	registered := promauto.With(registry)
	return metrics{
		retrieval: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_retrieval_duration_seconds",
			Help:    "Searches for passages, the question's embedding included; result is ok or error.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
		}, []string{telemetry.KeyResult}),
		reranking: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_rerank_duration_seconds",
			Help:    "Calls of the reranking server; result is ok or error, and after an error the order is the one from before.",
			Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
		}, []string{telemetry.KeyResult}),
	}
}

// observe adds the duration of a call and its result.
func observe(durations *prometheus.HistogramVec, duration time.Duration, err error) {
	durations.WithLabelValues(telemetry.Result(err)).Observe(duration.Seconds())
}
