package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"parlance.dev/parlance/test/figures"
)

const (
	// badShare is how many of the long call's frames are lost, and how many come late.
	badShare = 0.02
	// longPeriod is the time from one question of the long call to the next.
	longPeriod = 8 * time.Second
)

// moment is what was seen with one turn of the long call.
type moment struct {
	latencyMS, delayMS, driftMS float64
	// stalls counts frames that the caller itself sent so late that the service heard silence before.
	stalls int
	memory footprint
}

// stall is the lateness of the caller that makes the longest delay one of 200 ms, which the service
// takes for silence.
const stall = 200*time.Millisecond - maxLateFrames*frameLength

// footprint is the server's memory, and how much runs in it.
type footprint struct{ residentMiB, heapMiB, goroutines float64 }

// longCall has one call over a bad network, and compares its last third with its first.
func longCall(ctx context.Context, w *world) ([]figures.Row, error) {
	length := 10 * time.Minute
	switch {
	case w.options.hour:
		length = time.Hour
	case w.options.short:
		length = 24 * time.Second
	}
	w.providers.set(fixedDelays, crowdAnswer)
	defer w.providers.set(delays{}, shortAnswer)
	if err := w.serve(ctx, streaming); err != nil { // what others left in memory is not this call's
		return nil, err
	}
	bad := &losses{chance: rand.New(rand.NewPCG(1, 3)), share: badShare}
	c, err := w.call(ctx, 0, bad, nil)
	if err != nil {
		return nil, err
	}
	defer func() { c.hangUp() }()
	if _, _, err := w.moments(ctx, c, longPeriod+1); err != nil { // two turns to warm up
		return nil, err
	}
	c.reset()
	moments, cut, err := w.moments(ctx, c, length)
	if err != nil {
		return nil, err
	}
	third := max(1, len(moments)/3)
	first, last := middle(moments[:third]), middle(moments[len(moments)-third:])
	stalls := 0
	for _, m := range moments {
		stalls += m.stalls
	}
	name := fmt.Sprintf("One call of %s", length)
	note := "median of the last third less that of the first; in the first it is "
	return []figures.Row{
		row(name+": growth of the heap", last.memory.heapMiB-first.memory.heapMiB, "MiB",
			fmt.Sprintf("after a collection; %s%.1f MiB; %d turns; of the frames %.0f %% are lost and as many come up to %s late, "+
				"with those behind them", note, first.memory.heapMiB, len(moments), 100*badShare, (maxLateFrames-1)*frameLength)).To(2),
		row(name+": growth of the resident memory", last.memory.residentMiB-first.memory.residentMiB, "MiB",
			fmt.Sprintf("%s%.1f MiB", note, first.memory.residentMiB)).To(10),
		row(name+": growth of the number of goroutines", last.memory.goroutines-first.memory.goroutines, "",
			fmt.Sprintf("%s%.0f", note, first.memory.goroutines)).To(2),
		row(name+": drift of the clock of what is heard", abs(last.driftMS-first.driftMS), "ms",
			fmt.Sprintf("where speech_started says that speech began, against where it is in the audio that was sent: %.0f ms in the first "+
				"third, %.0f in the last; the caller itself stalled %d times, which the service may have heard as silence",
				first.driftMS, last.driftMS, stalls)).To(50),
		row(name+": growth of the delay of paced frames", last.delayMS-first.delayMS, "ms",
			fmt.Sprintf("%s%.1f ms", note, first.delayMS)).To(20),
		row(name+": growth of the time to the first sound", last.latencyMS-first.latencyMS, "ms",
			fmt.Sprintf("%s%.0f ms", note, first.latencyMS)).To(100),
		row(name+": questions answered before their end", float64(cut), "", fmt.Sprintf("of %d", len(moments))),
	}, nil
}

// moments has the caller ask for so long.
func (w *world) moments(ctx context.Context, c *caller, length time.Duration) (all []moment, cut int, err error) {
	until := time.Now().Add(length)
	for n := 0; time.Now().Before(until); n++ {
		next := time.Now().Add(longPeriod)
		t, err := c.ask(ctx, w.sounds.questions[n%len(w.sounds.questions)])
		if err != nil {
			return nil, 0, err
		}
		if t.isCut() {
			cut++
		}
		delays, _, lateness := c.reset()
		m := moment{latencyMS: millis(t.latency()), delayMS: percentile(allMillis(delays), 50), driftMS: float64(t.startedMS - t.sentMS)}
		for _, late := range lateness {
			if late >= stall {
				m.stalls++
			}
		}
		if m.memory, err = w.memory(ctx); err != nil {
			return nil, 0, err
		}
		all = append(all, m)
		if n%60 == 59 {
			fmt.Fprintf(os.Stderr, "%d turns, %.1f MiB of heap\n", n+1, m.memory.heapMiB)
		}
		if err := pause(ctx, time.Until(next)); err != nil {
			return nil, 0, err
		}
	}
	return all, cut, nil
}

// middle has the medians of moments.
func middle(moments []moment) moment {
	of := func(value func(moment) float64) float64 {
		var values []float64
		for _, m := range moments {
			values = append(values, value(m))
		}
		return percentile(values, 50)
	}
	return moment{
		latencyMS: of(func(m moment) float64 { return m.latencyMS }),
		delayMS:   of(func(m moment) float64 { return m.delayMS }),
		driftMS:   of(func(m moment) float64 { return m.driftMS }),
		memory: footprint{
			residentMiB: of(func(m moment) float64 { return m.memory.residentMiB }),
			heapMiB:     of(func(m moment) float64 { return m.memory.heapMiB }),
			goroutines:  of(func(m moment) float64 { return m.memory.goroutines }),
		},
	}
}

func abs(x float64) float64 { return max(x, -x) }

// memory is the footprint now, the heap's part after a collection.
func (w *world) memory(ctx context.Context) (f footprint, err error) {
	if f.residentMiB, err = w.server.ResidentMiB(); err != nil {
		return f, err
	}
	err = w.Gauges(ctx, w.server.Debug, map[string]*float64{
		"go_memstats_heap_alloc_bytes": &f.heapMiB, "go_goroutines": &f.goroutines,
	})
	f.heapMiB /= 1 << 20
	return f, err
}
