package fair

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// keyQueue labels the metrics. There is no label for tenants: it would make series without bound.
const keyQueue = "queue"

// Metrics measures the gates of a process. A nil *Metrics measures nothing.
type Metrics struct {
	running *prometheus.Desc
	waiting *prometheus.Desc
	refused *prometheus.CounterVec
	wait    *prometheus.HistogramVec

	mu    sync.Mutex
	gates []*Gate
}

// NewMetrics makes the metrics; its caller registers them.
func NewMetrics() *Metrics {
	return &Metrics{
		running: prometheus.NewDesc("parlance_slots_running", "Work that holds a slot, by queue.", []string{keyQueue}, nil),
		waiting: prometheus.NewDesc("parlance_slots_waiting", "Work that waits for a slot, by queue.", []string{keyQueue}, nil),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_slots_refused_total", Help: "Work refused because too much waited, by queue.",
		}, []string{keyQueue}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parlance_slots_wait_seconds", Help: "How long work waited for its slot, by queue.",
			Buckets: []float64{0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60},
		}, []string{keyQueue}),
	}
}

// Gate makes a gate that m measures. Its name is unique among m's gates. A nil m makes a gate that
// is not measured.
func (m *Metrics) Gate(cfg Config) *Gate {
	cfg.Metrics = m
	gate := New(cfg)
	if m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.gates = append(m.gates, gate)
	}
	return gate
}

// all lists the gates so far.
func (m *Metrics) all() []*Gate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.gates)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.running
	to <- m.waiting
	m.refused.Describe(to)
	m.wait.Describe(to)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, gate := range m.all() {
		running, waiting := gate.Count()
		to <- prometheus.MustNewConstMetric(m.running, prometheus.GaugeValue, float64(running), gate.cfg.Name)
		to <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, float64(waiting), gate.cfg.Name)
	}
	m.refused.Collect(to)
	m.wait.Collect(to)
}

func (m *Metrics) waited(queue string, d time.Duration) {
	if m != nil {
		m.wait.WithLabelValues(queue).Observe(d.Seconds())
	}
}

func (m *Metrics) refuse(queue string) {
	if m != nil {
		m.refused.WithLabelValues(queue).Inc()
	}
}
