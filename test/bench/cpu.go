package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of /proc/PID/stat; Linux has one value for it on every machine Go runs
// on.
const ticksPerSecond = 100

// cpuTime is processor time, user and system: a process's own, and that of its children which have
// ended and were waited for.
type cpuTime struct {
	parent        int
	own, children time.Duration
}

// cpuOf reads what a process has spent so far.
func cpuOf(pid int) (cpuTime, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return cpuTime{}, fmt.Errorf("reading the process's CPU time: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return cpuTime{}, errors.New("reading the process's CPU time: too few fields")
	}
	var numbers [5]int
	for i, at := range []int{1, 11, 12, 13, 14} {
		if numbers[i], err = strconv.Atoi(fields[at]); err != nil {
			return cpuTime{}, fmt.Errorf("reading the process's CPU time: %w", err)
		}
	}
	ticks := func(n int) time.Duration { return time.Duration(n) * time.Second / ticksPerSecond }
	return cpuTime{parent: numbers[0], own: ticks(numbers[1] + numbers[2]), children: ticks(numbers[3] + numbers[4])}, nil
}

// cpuOfFamily is what a process, its children that have ended, and those that live have spent.
func cpuOfFamily(pid int) (time.Duration, error) {
	one, err := cpuOf(pid)
	if err != nil {
		return 0, err
	}
	all := one.own + one.children
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("listing processes: %w", err)
	}
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if one, err := cpuOf(child); err == nil && one.parent == pid { // else it has ended meanwhile
			all += one.own + one.children
		}
	}
	return all, nil
}

// usage is what the parts of the installation have spent.
type usage struct{ server, worker, programs, postgres time.Duration }

func (u usage) minus(before usage) usage {
	return usage{u.server - before.server, u.worker - before.worker, u.programs - before.programs, u.postgres - before.postgres}
}

func (u usage) plus(more usage) usage {
	return usage{u.server + more.server, u.worker + more.worker, u.programs + more.programs, u.postgres + more.postgres}
}

func (u usage) all() time.Duration { return u.server + u.worker + u.programs + u.postgres }

// per describes the CPU time of a number of pages.
func (u usage) per(pages float64) string {
	each := func(d time.Duration) float64 { return d.Seconds() * 1000 / pages }
	return fmt.Sprintf("seconds, user and system, of the worker %.2f, of the programs of poppler %.2f, of Postgres %.2f, of the server %.2f",
		each(u.worker), each(u.programs), each(u.postgres), each(u.server))
}

// usage is what they have spent so far, but for the programs.
func (w *world) usage() (usage, error) {
	server, first := cpuOf(w.server.command.Process.Pid)
	worker, second := cpuOf(w.worker.command.Process.Pid)
	var postgres time.Duration
	postmaster, third := w.postmaster()
	if third == nil {
		postgres, third = cpuOfFamily(postmaster)
	}
	return usage{server: server.own, worker: worker.own + worker.children, postgres: postgres}, errors.Join(first, second, third)
}

// postmaster is the first process of Postgres.
func (w *world) postmaster() (int, error) {
	files, err := filepath.Glob(filepath.Join(w.stack.DataDir, "*", "postmaster.pid"))
	if err != nil || len(files) != 1 {
		return 0, fmt.Errorf("finding Postgres: %d files in %s (%w)", len(files), w.stack.DataDir, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return 0, fmt.Errorf("finding Postgres: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}
