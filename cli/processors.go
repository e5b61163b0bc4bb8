package cli

import (
	"context"
	"os"
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/beat"
)

const (
	// lookEvery is how often it is looked at what the process does, and so how long a rush waits for more processors.
	lookEvery = 100 * time.Millisecond
	// calmLooks are how many looks in a row must be calm, on average, for a processor to be given back.
	calmLooks = 10
	// busyShare is from what share of its processors' time on the process gets all of them, calmShare below what share
	// of one less it can do with that.
	busyShare = 0.8
	calmShare = 0.5
	// longWait is how long nothing that is ready should wait for a processor, lateShare how much may nevertheless: where
	// other processes are busy, what this one uses does not tell what it lacks.
	longWait  = 4 * time.Millisecond
	lateShare = 0.05
	// leastLate are fewer long waits than say something, keptWaits is what counts of those before when it is looked again.
	leastLate = 2
	keptWaits = 0.8
)

// waitsMetric is how long what was ready waited for a processor; Go looks at one wait in eight.
const waitsMetric = "/sched/latencies:seconds"

// tuneProcessors lets Go work on as many processors as there is work for, until ctx ends. With more, each small piece of
// work wakes a thread on another one, and what comes next is done where no cache knows of it. A GOMAXPROCS that the
// operator has chosen stays as it is. See docs/decisions/0028.
func tuneProcessors(ctx context.Context) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	p := processors{most: runtime.GOMAXPROCS(0)}
	w := waits{sample: []metrics.Sample{{Name: waitsMetric}}}
	before, at := cpuTime(), time.Now()
	beat.Every(ctx, lookEvery, func() bool {
		spent, now := cpuTime(), time.Now()
		seen := look{used: float64(spent-before) / float64(now.Sub(at)), late: w.late(), processors: runtime.GOMAXPROCS(0)}
		before, at = spent, now
		p.take(p.wanted(seen))
		return true
	})
	p.take(p.most)
}

// look is what the process did since the one before: the work of used processors, and late when much waited for one.
type look struct {
	used       float64
	late       bool
	processors int
}

// processors decides how many are worked on.
type processors struct {
	// most are as many as Go would take, when last asked.
	most int
	// looks have been calm, in which so much was used together; with now processors.
	now, looks int
	sum        float64
}

// wanted is how many processors there should be after a look.
func (p *processors) wanted(seen look) int {
	now := seen.processors
	p.most = max(p.most, now)
	if now != p.now {
		p.now, p.looks, p.sum = now, 0, 0
	}
	if seen.late || seen.used > busyShare*float64(now) {
		p.looks, p.sum = 0, 0
		return p.most
	}
	p.looks, p.sum = p.looks+1, p.sum+seen.used
	if p.looks < calmLooks {
		return now
	}
	calm := now > 1 && p.sum/float64(p.looks) < calmShare*float64(now-1)
	p.looks, p.sum = 0, 0
	if calm {
		return now - 1
	}
	return now
}

// take has Go work on so many. All of them are as many as Go finds that there are, which follows the limits of a container.
func (p *processors) take(wanted int) {
	switch now := runtime.GOMAXPROCS(0); {
	case wanted == now:
	case wanted < p.most:
		runtime.GOMAXPROCS(wanted)
	default:
		runtime.SetDefaultGOMAXPROCS()
		p.most = runtime.GOMAXPROCS(0)
	}
}

// waits are those for a processor, of which the last ones count most.
type waits struct {
	sample        []metrics.Sample
	all, long     uint64
	recent, tardy float64
}

// late says whether much waits for long lately.
func (w *waits) late() bool {
	metrics.Read(w.sample)
	if w.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return false // Go does not tell any more
	}
	all, long := uint64(0), uint64(0)
	told := w.sample[0].Value.Float64Histogram()
	for i, count := range told.Counts {
		all += count
		if told.Buckets[i] >= longWait.Seconds() {
			long += count
		}
	}
	w.recent = w.recent*keptWaits + float64(all-w.all)
	w.tardy = w.tardy*keptWaits + float64(long-w.long)
	w.all, w.long = all, long
	return w.tardy >= leastLate && w.tardy > w.recent*lateShare
}

// cpuTime is what the process has used; children are not counted.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0 // it cannot fail for the process itself
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
