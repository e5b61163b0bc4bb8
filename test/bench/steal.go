package main

import (
	"fmt"

	"parlance.dev/parlance/test/bench/rig"
	"parlance.dev/parlance/test/figures"
)

// stealRow is a figure about a part of the measuring that lasted from before until now. Where much
// was stolen the part's times are the host's, not ours.
func stealRow(before, now rig.MachineTime, part string) figures.Row {
	share := 0.0
	if busy := now.Busy - before.Busy; busy > 0 {
		share = 100 * float64(now.Stolen-before.Stolen) / float64(busy)
	}
	return figures.Row{
		Name:  fmt.Sprintf("While %q was measured: the processors' time that the host of this machine took", part),
		Value: figures.Round(share), Unit: "%", Better: "lower",
		Note: "steal time, of all time in which there was something to do; from some percent on times and CPU are worse than the service's own",
	}
}
