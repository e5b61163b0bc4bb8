package knowledge

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures ingestion and retrieval; without a registry nobody sees it.
type metrics struct {
	stages    *prometheus.HistogramVec
	retrieval *prometheus.HistogramVec
	reranking *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parlance_ingest_stage_duration_seconds", Help: "Stages of reading a source; result is ok or error.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900},
		}, []string{"stage", telemetry.KeyResult}),
		retrieval: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parlance_retrieval_duration_seconds", Help: "Searches for passages, the question's embedding included; result is ok or error.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
		}, []string{telemetry.KeyResult}),
	}
	m.reranking = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "parlance_rerank_duration_seconds", Help: "Calls of the reranking server; result is ok or error, and after an error the order is the one from before.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
	}, []string{telemetry.KeyResult})
	if registry != nil {
		registry.MustRegister(m.stages, m.reranking, m.retrieval)
	}
	return m
}

func (m metrics) staged(stage Stage, err error, took time.Duration) {
	m.stages.WithLabelValues(string(stage), telemetry.Result(err)).Observe(took.Seconds())
}

func (m metrics) retrieved(err error, took time.Duration) {
	m.retrieval.WithLabelValues(telemetry.Result(err)).Observe(took.Seconds())
}

func (m metrics) reranked(err error, took time.Duration) {
	m.reranking.WithLabelValues(telemetry.Result(err)).Observe(took.Seconds())
}
