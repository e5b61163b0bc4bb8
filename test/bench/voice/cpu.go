package main

import (
	"fmt"
	"os"
	"time"

	"parlance.dev/parlance/test/bench/rig"
	"parlance.dev/parlance/test/figures"
)

// cpuTimes are what the parts of the installation have spent, and all of the machine.
type cpuTimes struct{ server, callers, postgres, machine time.Duration }

// readCPU is what they have spent so far. What cannot be read counts as nothing.
func (w *world) readCPU() cpuTimes {
	all := func(t rig.CPUTime, _ error) time.Duration { return t.Own + t.Children }
	postgres, _ := w.PostgresCPU() // or nothing
	return cpuTimes{
		server: w.spent.Own + w.spent.Children + all(w.server.CPU()), callers: all(rig.CPUOf(os.Getpid())),
		postgres: postgres, machine: rig.ReadMachineTime().Busy,
	}
}

func (t cpuTimes) minus(before cpuTimes) cpuTimes {
	return cpuTimes{
		t.server - before.server, t.callers - before.callers, t.postgres - before.postgres, t.machine - before.machine,
	}
}

// row says how busy the machine was with other programs while a part was measured.
func (t cpuTimes) row(part string, took time.Duration) figures.Row {
	others := max(0, t.machine-t.server-t.callers-t.postgres)
	return figures.Row{
		Name:  fmt.Sprintf("While %q was measured: processors' time of other programs", part),
		Value: figures.Round(100 * others.Seconds() / took.Seconds()), Unit: "%", Better: "lower",
		Note: "of one core; from some percent on times are worse than the service's own",
	}
}
