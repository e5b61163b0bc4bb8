package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parlance.dev/parlance/test/child"
)

// readyPatience bounds waiting for a server to become ready.
const readyPatience = time.Minute

// Process is a program under measurement.
type Process struct {
	command *exec.Cmd
	ended   <-chan struct{}
}

// Start runs the program at path. Of our own environment it gets PATH only, and what it writes to
// its standard error goes to ours. It ends with us, also when we are killed.
func Start(path string, environment []string, args ...string) (*Process, error) {
	p := &Process{command: exec.Command(path, args...)}
	p.command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}, environment...)
	p.command.Stderr = os.Stderr
	ended, err := child.Start(p.command)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", args, err)
	}
	p.ended = ended
	return p, nil
}

// Stop asks the process to end, waits until it has, and returns an error when it failed. A nil
// process has ended.
func (p *Process) Stop() error {
	if p == nil {
		return nil
	}
	if err := p.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	<-p.ended
	if state := p.command.ProcessState; !state.Success() {
		return fmt.Errorf("%s ended with %s", p.command.Path, state)
	}
	return nil
}

// Signal sends a signal to the process.
func (p *Process) Signal(signal os.Signal) error { return p.command.Process.Signal(signal) }

// CPU is what the process has spent so far.
func (p *Process) CPU() (CPUTime, error) { return CPUOf(p.command.Process.Pid) }

// PeakMiB is the most memory that the process has had at once so far.
func (p *Process) PeakMiB() (float64, error) { return p.memoryMiB("VmHWM:") }

// ResidentMiB is the memory that the process has now.
func (p *Process) ResidentMiB() (float64, error) { return p.memoryMiB("VmRSS:") }

// memoryMiB is a figure of /proc/PID/status. Source: proc(5).
func (p *Process) memoryMiB(figure string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading the process's memory: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, figure); ok {
			n, err := strconv.ParseFloat(strings.Fields(kib)[0], 64)
			if err != nil {
				return 0, fmt.Errorf("reading the process's memory: %w", err)
			}
			return n / 1024, nil
		}
	}
	return 0, fmt.Errorf("reading the process's memory: there is no %s", figure)
}

// AwaitReady waits until the server at url says that it is ready.
func AwaitReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
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

// FreeAddress is one on loopback that nobody listens on, for a program that is started next.
func FreeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}
