package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parlance.dev/parlance/test/child"
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

// cpu is the time the process has spent so far, user and system.
func (p *process) cpu() (time.Duration, error) {
	so, err := cpuOf(p.command.Process.Pid)
	return so.own, err
}

// peakMemory is the most memory that the process has had at once so far, in MiB.
func (p *process) peakMemory() (float64, error) {
	kib, err := p.memory("VmHWM:")
	return kib / 1024, err
}

// memory is a figure of the system's about the process's memory, in KiB.
func (p *process) memory(figure string) (float64, error) {
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
			return n, nil
		}
	}
	return 0, fmt.Errorf("reading the process's memory: there is no %s", figure)
}

// ready waits until the server says so.
func ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", http.NoBody)
		if err != nil {
			return fmt.Errorf("asking whether the server is ready: %w", err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
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
