package journal

import (
	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// metrics count the records.
type metrics struct {
	turns, written, aside, refused prometheus.Counter
	kept                           *prometheus.CounterVec
}

func (j *Journal) measure(registry prometheus.Registerer) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	j.metrics = metrics{
		turns:   counter("parlance_spilled_turns_total", "Turns whose end was kept on disk because Postgres was away."),
		written: counter("parlance_spill_written_total", "Kept records that have been written to Postgres since."),
		aside:   counter("parlance_spill_aside_total", "Kept records that can never be written and were put aside. Any is worth a look."),
		refused: counter(
			"parlance_spill_refused_total",
			"Records that could not be kept: the spill was full, or the disk refused. Their turns failed.",
		),
		kept: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_spill_kept_total", Help: "Records kept on disk while Postgres was away, by kind.",
		}, []string{telemetry.KeyKind}),
	}
	if registry == nil {
		return
	}
	registry.MustRegister(j.metrics.turns, j.metrics.written, j.metrics.aside, j.metrics.refused, j.metrics.kept,
		gauge("parlance_spill_records", "Records on disk that wait for Postgres.", func() float64 { return float64(j.wal.Stats().Records) }),
		gauge("parlance_spill_bytes", "What they take on disk.", func() float64 { return float64(j.wal.Stats().Bytes) }),
		gauge("parlance_spill_oldest_seconds", "Age of the oldest of them; 0 when there is none.", func() float64 {
			oldest := j.wal.Stats().Oldest
			if oldest.IsZero() {
				return 0
			}
			return j.now().Sub(oldest).Seconds()
		}),
		gauge("parlance_spill_aside", "Records put aside on this machine.", func() float64 { return float64(j.wal.Stats().Aside) }),
		gauge("parlance_postgres_away", "1 while this server goes on without Postgres.", func() float64 {
			if j.Offline() {
				return 1
			}
			return 0
		}),
	)
}
