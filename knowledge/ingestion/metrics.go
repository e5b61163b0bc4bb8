package ingestion

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/telemetry"
)

// metrics measures ingestion; without a registry nobody sees it.
type metrics struct{ stages *prometheus.HistogramVec }

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "parlance_ingest_stage_duration_seconds", Help: "Stages of reading a source; result is ok or error.",
		Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900},
	}, []string{"stage", telemetry.KeyResult})}
	if registry != nil {
		registry.MustRegister(m.stages)
	}
	return m
}

func (m metrics) observeStage(stage knowledge.Stage, err error, took time.Duration) {
	m.stages.WithLabelValues(string(stage), telemetry.Result(err)).Observe(took.Seconds())
}
