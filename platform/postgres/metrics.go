package postgres

import "github.com/prometheus/client_golang/prometheus"

// Collector measures the pool of connections.
func (d *DB) Collector() prometheus.Collector {
	return poolCollector{
		db:      d,
		conns:   prometheus.NewDesc("parlance_db_connections", "Connections of the pool; state is used or idle.", []string{"state"}, nil),
		most:    prometheus.NewDesc("parlance_db_connections_max", "Most connections the pool may have.", nil, nil),
		waits:   prometheus.NewDesc("parlance_db_waits_total", "Times that work had to wait for a connection.", nil, nil),
		seconds: prometheus.NewDesc("parlance_db_wait_seconds_total", "Time that work has waited for connections.", nil, nil),
	}
}

type poolCollector struct {
	db                          *DB
	conns, most, waits, seconds *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c poolCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.conns, c.most, c.waits, c.seconds} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c poolCollector) Collect(to chan<- prometheus.Metric) {
	stat := c.db.Pool.Stat()
	to <- prometheus.MustNewConstMetric(c.conns, prometheus.GaugeValue, float64(stat.AcquiredConns()), "used")
	to <- prometheus.MustNewConstMetric(c.conns, prometheus.GaugeValue, float64(stat.IdleConns()), "idle")
	to <- prometheus.MustNewConstMetric(c.most, prometheus.GaugeValue, float64(stat.MaxConns()))
	to <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(stat.EmptyAcquireCount()))
	to <- prometheus.MustNewConstMetric(c.seconds, prometheus.CounterValue, stat.EmptyAcquireWaitTime().Seconds())
}
