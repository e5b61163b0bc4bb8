package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A small heap grows to four times its live size before a collection, a large one by headroomBytes.
// With Go's default of 100 percent, garbage collection takes a tenth of the CPU time of a request,
// and a server with 5,000 sockets needs 125 KiB a session in place of 91 (task bench:sessions).
const (
	collectorPercent      = 300
	leastCollectorPercent = 50
	headroomBytes         = 256 << 20
)

// liveMetric is the size of the live heap at the last collection.
const liveMetric = "/gc/heap/live:bytes"

// tuneCollector does nothing when the operator has set GOGC.
func tuneCollector() {
	if chosen := debug.SetGCPercent(collectorPercent); chosen != 100 {
		debug.SetGCPercent(chosen)
		return
	}
	c := &collection{percent: collectorPercent}
	runtime.SetFinalizer(c, (*collection).ended)
}

// collection is unreachable from the start, so its finalizer runs after each collection.
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

// percentFor returns the GOGC for a live heap, in steps of ten.
func percentFor(live uint64) int {
	percent := uint64(headroomBytes) * 100 / max(live, 1)
	return int(min(max(percent/10*10, leastCollectorPercent), collectorPercent))
}
