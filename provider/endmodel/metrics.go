package endmodel

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// Metrics measures judgements. The methods of a nil Metrics do nothing.
type Metrics struct {
	seconds *prometheus.HistogramVec
	drops   prometheus.Counter
}

// NewMetrics makes and registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	registered := promauto.With(registry)
	return &Metrics{
		seconds: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_end_model_seconds",
			Help:    "From the question whether a speaker has finished to the answer; result is ok or failed.",
			Buckets: []float64{0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5},
		}, []string{telemetry.KeyResult}),
		drops: registered.NewCounter(prometheus.CounterOpts{
			Name: "parlance_end_model_dropped_total",
			Help: "Pauses that were decided without the model of the end of turns, because too many questions waited, or one for too long.",
		}),
	}
}

func (m *Metrics) answered(took time.Duration, err error) {
	if m == nil {
		return
	}
	result := "ok"
	if err != nil {
		result = "failed"
	}
	m.seconds.WithLabelValues(result).Observe(took.Seconds())
}

func (m *Metrics) dropped() {
	if m != nil {
		m.drops.Inc()
	}
}
