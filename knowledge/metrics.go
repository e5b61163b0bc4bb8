package knowledge

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures retrieval; without a registry nobody sees it.
type metrics struct {
	retrieval *prometheus.HistogramVec
	reranking *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{
		retrieval: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_retrieval_duration_seconds",
			Help:    "Searches for passages, the question's embedding included; result is ok or error.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
		}, []string{telemetry.KeyResult}),
	}
	m.reranking = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "parlance_rerank_duration_seconds",
		Help:    "Calls of the reranking server; result is ok or error, and after an error the order is the one from before.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
	}, []string{telemetry.KeyResult})
	if registry != nil {
		registry.MustRegister(m.reranking, m.retrieval)
	}
	return m
}

func (m metrics) observeRetrieval(err error, took time.Duration) {
	m.retrieval.WithLabelValues(telemetry.Result(err)).Observe(took.Seconds())
}

func (m metrics) observeReranking(err error, took time.Duration) {
	m.reranking.WithLabelValues(telemetry.Result(err)).Observe(took.Seconds())
}
