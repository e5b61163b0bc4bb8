package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parlance.dev/parlance/test/child"
	"parlance.dev/parlance/test/figures"
)

// process is a program of ours under measurement.
type process struct {
	command *exec.Cmd
	ended   <-chan struct{}
}

func start(path string, environment []string, args ...string) (*process, error) {
	p := &process{command: exec.Command(path, args...)}
	p.command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}, environment...)
	p.command.Stderr = os.Stderr
	ended, err := child.Start(p.command)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", args, err)
	}
	p.ended = ended
	return p, nil
}

// stop ends the process in order.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	<-p.ended
	if state := p.command.ProcessState; !state.Success() {
		return fmt.Errorf("%s ended with %s", p.command.Path, state)
	}
	return nil
}

// ready waits until the server says so.
func ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", http.NoBody)
		if err != nil {
			return fmt.Errorf("asking whether the server is ready: %w", err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close() // it is not read
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not become ready: %w", errors.Join(err, ctx.Err()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ticksPerSecond is the unit of /proc/PID/stat and /proc/stat; Linux has one value for it on every
// machine Go runs on.
const ticksPerSecond = 100

// cpuOf is what a process has spent so far, user and system, and its parent; false: there is no
// such process.
func cpuOf(pid int) (spent time.Duration, parent int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before may hold anything
	fields := strings.Fields(rest)
	if err != nil || len(fields) < 15 {
		return 0, 0, false
	}
	var numbers [5]int
	for i, at := range []int{1, 11, 12, 13, 14} {
		if numbers[i], err = strconv.Atoi(fields[at]); err != nil {
			return 0, 0, false
		}
	}
	return ticks(numbers[1] + numbers[2] + numbers[3] + numbers[4]), numbers[0], true
}

func ticks(n int) time.Duration { return time.Duration(n) * time.Second / ticksPerSecond }

func (p *process) cpu() time.Duration {
	spent, _, _ := cpuOf(p.command.Process.Pid) // nothing, once it has ended
	return spent
}

// residentMiB is the memory that the process has now.
func (p *process) residentMiB() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading the process's memory: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kib)[0], 64)
			return n / 1024, err
		}
	}
	return 0, errors.New("reading the process's memory: there is no VmRSS")
}

// cpuTimes are what the parts of the installation have spent, and all of the machine.
type cpuTimes struct{ server, callers, postgres, machine time.Duration }

// readCPU is what they have spent so far. What cannot be read counts as nothing.
func (w *world) readCPU() cpuTimes {
	t := cpuTimes{server: w.spent + w.server.cpu(), machine: machineCPU()}
	t.callers, _, _ = cpuOf(os.Getpid())
	postmaster := w.postmaster()
	t.postgres, _, _ = cpuOf(postmaster)
	entries, _ := os.ReadDir("/proc") // then there are none
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if spent, parent, ok := cpuOf(pid); ok && parent == postmaster {
				t.postgres += spent
			}
		}
	}
	return t
}

// machineCPU is the time in which the processors did something.
func machineCPU() (busy time.Duration) {
	stat, err := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(stat), "\n")
	if err != nil {
		return 0
	}
	// user, nice, system, idle, iowait, irq, softirq, steal. Source: proc(5).
	for i, field := range strings.Fields(line) {
		if n, err := strconv.Atoi(field); err == nil && i != 4 && i != 5 && i <= 8 {
			busy += ticks(n)
		}
	}
	return busy
}

// postmaster is the first process of Postgres; 0: it was not found.
func (w *world) postmaster() int {
	files, err := filepath.Glob(filepath.Join(w.stack.DataDir, "*", "postmaster.pid"))
	if err != nil || len(files) != 1 {
		return 0
	}
	text, _ := os.ReadFile(files[0]) // then it has no line
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(line)
	return pid
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
