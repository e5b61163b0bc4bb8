package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"parlance.dev/parlance/test/figures"
)

// theft is what a virtual machine's processors had to do and what of it the host kept from them, in ticks.
type theft struct{ wanted, stolen uint64 }

// readTheft reads the machine's own count; it is zero where there is none.
func readTheft() theft {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return theft{} // not Linux
	}
	return parseTheft(string(stat))
}

// parseTheft reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. Source: proc(5).
func parseTheft(stat string) (t theft) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	const first, idle, ioWait, steal = 1, 4, 5, 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return theft{}
	}
	for i := first; i <= steal; i++ {
		ticks, err := strconv.ParseUint(fields[i], 10, 64)
		switch {
		case err != nil:
			return theft{}
		case i == steal:
			t.stolen = ticks
			t.wanted += ticks
		case i != idle && i != ioWait:
			t.wanted += ticks
		}
	}
	return t
}

// row is a figure about a part of the measuring that began at before. Where much was stolen the part's times are the
// host's, not ours.
func (t theft) row(before theft, part string) figures.Row {
	share := 0.0
	if wanted := t.wanted - before.wanted; wanted > 0 {
		share = 100 * float64(t.stolen-before.stolen) / float64(wanted)
	}
	return figures.Row{
		Name: fmt.Sprintf("While %q was measured: the processors' time that the host of this machine took", part), Value: figures.Round(share), Unit: "%", Better: "lower",
		Note: "steal time, of all time in which there was something to do; from some percent on times and CPU are worse than the service's own",
	}
}
