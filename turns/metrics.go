package turns

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
)

// Buckets in seconds: people wait a second gladly and ten not at all; a turn with tools may take
// minutes.
var (
	turnBuckets  = []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300}
	tokenBuckets = []float64{0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20}
)

// metrics measures turns.
type metrics struct {
	turns       *prometheus.HistogramVec
	firstTokens prometheus.Histogram
	guards      *prometheus.CounterVec
	judged      *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	m := metrics{
		turns: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_turn_duration_seconds",
			Help:    "Turns from their begin to their record; status is completed, cancelled or failed.",
			Buckets: turnBuckets,
		}, []string{telemetry.KeyStatus}),
		firstTokens: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "parlance_turn_first_token_seconds",
			Help:    "From the begin of a turn to the first piece of its answer, retrieval included.",
			Buckets: tokenBuckets,
		}),
		guards: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_guard_verdicts_total",
			Help: "What guards decided about calls of tools and about what is said, by their rule.",
		}, []string{telemetry.KeyGuard, telemetry.KeyVerdict, telemetry.KeyRule}),
		judged: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_guard_judge_seconds",
			Help:    "Calls of the models that judge for guards; outcome is clear, broken or failed.",
			Buckets: tokenBuckets,
		}, []string{telemetry.KeyOutcome}),
	}
	if registry != nil {
		registry.MustRegister(m.turns, m.firstTokens, m.guards, m.judged)
	}
	return m
}

// took counts a turn; firstToken 0: nothing was said.
func (m metrics) observe(status sessions.TurnStatus, whole, firstToken time.Duration) {
	m.turns.WithLabelValues(string(status)).Observe(whole.Seconds())
	if firstToken > 0 {
		m.firstTokens.Observe(firstToken.Seconds())
	}
}
