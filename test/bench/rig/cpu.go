package rig

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of /proc/PID/stat and /proc/stat; Linux has one value for it on every
// machine Go runs on.
const ticksPerSecond = 100

func ticks(n int) time.Duration { return time.Duration(n) * time.Second / ticksPerSecond }

// CPUTime is processor time, user and system: a process's own, and that of its children which have
// ended and were waited for.
type CPUTime struct {
	parent        int
	Own, Children time.Duration
}

// CPUOf reads what a process has spent so far.
func CPUOf(pid int) (CPUTime, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return CPUTime{}, fmt.Errorf("reading the process's CPU time: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return CPUTime{}, errors.New("reading the process's CPU time: too few fields")
	}
	var numbers [5]int
	for i, at := range []int{1, 11, 12, 13, 14} {
		if numbers[i], err = strconv.Atoi(fields[at]); err != nil {
			return CPUTime{}, fmt.Errorf("reading the process's CPU time: %w", err)
		}
	}
	return CPUTime{parent: numbers[0], Own: ticks(numbers[1] + numbers[2]), Children: ticks(numbers[3] + numbers[4])}, nil
}

// cpuOfFamily is what a process, its children that have ended, and those that live have spent.
func cpuOfFamily(pid int) (time.Duration, error) {
	one, err := CPUOf(pid)
	if err != nil {
		return 0, err
	}
	all := one.Own + one.Children
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("listing processes: %w", err)
	}
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if one, err := CPUOf(child); err == nil && one.parent == pid { // else it has ended meanwhile
			all += one.Own + one.Children
		}
	}
	return all, nil
}

// MachineTime is the time in which this machine had something to run, of all processors together,
// and the part of it in which the host of a virtual machine ran others instead.
type MachineTime struct{ Busy, Stolen time.Duration }

// ReadMachineTime reads the machine's own count; it is zero where there is none.
func ReadMachineTime() MachineTime {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return MachineTime{} // not Linux
	}
	return parseMachineTime(string(stat))
}

// parseMachineTime reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal. Source: proc(5).
func parseMachineTime(stat string) (t MachineTime) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	const first, idle, ioWait, steal = 1, 4, 5, 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return MachineTime{}
	}
	for i := first; i <= steal; i++ {
		n, err := strconv.Atoi(fields[i])
		switch {
		case err != nil || n < 0:
			return MachineTime{}
		case i == steal:
			t.Stolen = ticks(n)
			t.Busy += t.Stolen
		case i != idle && i != ioWait:
			t.Busy += ticks(n)
		}
	}
	return t
}
