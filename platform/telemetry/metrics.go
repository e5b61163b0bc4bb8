package telemetry

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Buckets in seconds: a request is answered or given up within a minute, a task may take half an
// hour.
var (
	requestBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
	taskBuckets    = []float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800}
)

// Metrics holds the registry and what every process measures. Nouns and providers register
// their own on Registry, named parlance_<what>_<unit>.
type Metrics struct {
	Registry *prometheus.Registry

	http  *prometheus.HistogramVec
	rpc   *prometheus.HistogramVec
	tasks *prometheus.HistogramVec
	spans *prometheus.CounterVec
}

// NewMetrics makes a registry with Go's and the process's own metrics, parlance_build_info and
// the durations below.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		http: durations("parlance_http_request_duration_seconds", "HTTP requests by route pattern.", requestBuckets, KeyMethod,
			KeyRoute, KeyStatus),
		rpc: durations("parlance_rpc_duration_seconds", "Connect, gRPC and REST calls by procedure; code is ok "+
			"or the fault's reason.", requestBuckets, KeyProcedure, "code"),
		tasks: durations("parlance_task_duration_seconds", "Runs of background tasks; result is done, retry or failed.", taskBuckets,
			KeyTaskType, "result"),
		spans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_trace_spans_total", Help: "Spans of traces by what became of them; result is exported or lost.",
		}, []string{"result"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "parlance_build_info", Help: "Always 1; the label says which build runs.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		build, m.http, m.rpc, m.tasks, m.spans)
	return m
}

// HTTPRequest describes one answered HTTP request.
type HTTPRequest struct {
	Method string
	// Route is the pattern ("/v1/agents/{agent_id}"), never the path: each value is a time series.
	Route    string
	Status   int
	Duration time.Duration
}

// ObserveHTTP counts one HTTP request. Methods that HTTP does not know count as OTHER.
func (m *Metrics) ObserveHTTP(r HTTPRequest) {
	m.http.WithLabelValues(knownMethod(r.Method), r.Route, strconv.Itoa(r.Status)).Observe(r.Duration.Seconds())
}

// ObserveRPC counts one call; reason is the fault's reason, empty when it went well.
func (m *Metrics) ObserveRPC(procedure, reason string, duration time.Duration) {
	if reason == "" {
		reason = "ok"
	}
	m.rpc.WithLabelValues(procedure, reason).Observe(duration.Seconds())
}

// ObserveTask counts one run of a task; result is queue's: done, retry or failed.
func (m *Metrics) ObserveTask(taskType, result string, duration time.Duration) {
	m.tasks.WithLabelValues(taskType, result).Observe(duration.Seconds())
}

// exported counts spans; a nil Metrics does not.
func (m *Metrics) exported(result string, n int) {
	if m != nil {
		m.spans.WithLabelValues(result).Add(float64(n))
	}
}

// Result is the label of how something went: ok or error.
func Result(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// Handler serves the registry for /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{Registry: m.Registry, MaxRequestsInFlight: 4})
}

func durations(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// knownMethod keeps a caller from making time series by inventing methods.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "OTHER"
}

// Names lists every metric that is registered, sorted, those without a value yet too.
func (m *Metrics) Names() []string {
	descs := make(chan *prometheus.Desc)
	go func() { m.Registry.Describe(descs); close(descs) }()
	names := map[string]bool{}
	for desc := range descs {
		// A Desc says its name in its text only.
		_, rest, _ := strings.Cut(desc.String(), `fqName: "`)
		name, _, _ := strings.Cut(rest, `"`)
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}
