package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"parlance.dev/parlance/test/figures"
)

// stealTime counts, in ticks, the time in which this virtual machine had something to run, and the
// part of it in which the host ran others instead.
type stealTime struct{ busy, stolen uint64 }

// readStealTime reads the machine's own count; it is zero where there is none.
func readStealTime() stealTime {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return stealTime{} // not Linux
	}
	return parseStealTime(string(stat))
}

// parseStealTime reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal. Source: proc(5).
func parseStealTime(stat string) (t stealTime) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	const first, idle, ioWait, steal = 1, 4, 5, 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return stealTime{}
	}
	for i := first; i <= steal; i++ {
		ticks, err := strconv.ParseUint(fields[i], 10, 64)
		switch {
		case err != nil:
			return stealTime{}
		case i == steal:
			t.stolen = ticks
			t.busy += ticks
		case i != idle && i != ioWait:
			t.busy += ticks
		}
	}
	return t
}

// row is a figure about a part of the measuring that began at before. Where much was stolen the
// part's times are the host's, not ours.
func (t stealTime) row(before stealTime, part string) figures.Row {
	share := 0.0
	if busy := t.busy - before.busy; busy > 0 {
		share = 100 * float64(t.stolen-before.stolen) / float64(busy)
	}
	return figures.Row{
		Name:  fmt.Sprintf("While %q was measured: the processors' time that the host of this machine took", part),
		Value: figures.Round(share), Unit: "%", Better: "lower",
		Note: "steal time, of all time in which there was something to do; from some percent on times and CPU are worse than the service's own",
	}
}
