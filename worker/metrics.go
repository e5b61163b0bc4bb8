package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/webhooks"
)

const (
	kindPublic   = "public"
	kindInternal = "internal"
)

// metrics counts relayed events and attempts.
type metrics struct {
	events   *prometheus.CounterVec
	attempts *prometheus.CounterVec
}

func newMetrics(m *telemetry.Metrics) metrics {
	counters := metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_events_relayed_total", Help: "Events relayed; kind is public or internal.",
		}, []string{telemetry.KeyKind}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_webhook_attempts_total", Help: "Attempts to deliver an event to an endpoint, by how they went.",
		}, []string{telemetry.KeyStatus}),
	}
	if m != nil {
		m.Registry.MustRegister(counters.events, counters.attempts)
	}
	return counters
}

func (m metrics) relayed(kind string, n int) { m.events.WithLabelValues(kind).Add(float64(n)) }

func (m metrics) attempted(tally webhooks.Tally) {
	for status, n := range tally {
		m.attempts.WithLabelValues(string(status)).Add(float64(n))
	}
}
