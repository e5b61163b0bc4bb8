package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The heap may grow to four times what is alive before it is collected, as long as that is some tens of
// MiB: at Go's default of 100 percent collecting costs a request a tenth of its CPU. Where thousands of
// sockets are alive it grows by headroomBytes, which is as much work saved, and not by four times.
const (
	collectorPercent      = 300
	leastCollectorPercent = 50
	headroomBytes         = 256 << 20
)

// liveMetric is what the last collection found alive.
const liveMetric = "/gc/heap/live:bytes"

// tuneCollector leaves a GOGC that the operator has chosen as it is.
func tuneCollector() {
	if chosen := debug.SetGCPercent(collectorPercent); chosen != 100 {
		debug.SetGCPercent(chosen)
		return
	}
	c := &collection{percent: collectorPercent}
	runtime.SetFinalizer(c, (*collection).ended)
}

// collection is garbage at once, so that each collection calls ended.
type collection struct{ percent int }

func (c *collection) ended() {
	sample := []metrics.Sample{{Name: liveMetric}}
	metrics.Read(sample)
	if sample[0].Value.Kind() == metrics.KindUint64 {
		if wanted := percentFor(sample[0].Value.Uint64()); wanted != c.percent {
			c.percent = wanted
			debug.SetGCPercent(wanted)
		}
	}
	runtime.SetFinalizer(c, (*collection).ended)
}

// percentFor is the GOGC for a heap of which so much is alive, in steps of ten.
func percentFor(live uint64) int {
	percent := uint64(headroomBytes) * 100 / max(live, 1)
	return int(min(max(percent/10*10, leastCollectorPercent), collectorPercent)) //nolint:gosec // within the bounds
}
