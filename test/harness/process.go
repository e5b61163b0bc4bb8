package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"parlance.dev/parlance/test/child"
)

// program is the built program of this test binary.
type program struct {
	once sync.Once
	path string
	err  error
}

var built program

func (p *program) build() {
	dir, err := os.MkdirTemp("", "parlance-built-")
	if err != nil {
		p.err = err
		return
	}
	path := filepath.Join(dir, "parlance")
	// Never with the race detector, whatever GOFLAGS says: these tests watch the program's memory and
	// speed.
	output, err := exec.CommandContext(context.Background(), "go", "build", "-race=false", "-o", path,
		"parlance.dev/parlance/cmd/parlance").CombinedOutput()
	if err != nil {
		p.err = errors.Join(fmt.Errorf("build the program: %w\n%s", err, output), os.RemoveAll(dir))
		return
	}
	p.path = path
}

// RemoveBuilt removes the program that StartProcess built, if it did; for TestMain, at the end.
func RemoveBuilt() error {
	if built.path == "" {
		return nil
	}
	return os.RemoveAll(filepath.Dir(built.path))
}

// Process is the built program, running on the databases of an Env.
type Process struct {
	t       testing.TB
	command *exec.Cmd
	ended   <-chan struct{}
}

// StartProcess runs `parlance server` or `parlance worker` with the installation's settings. Its
// log goes to the test's.
func (e *Env) StartProcess(t testing.TB, args ...string) *Process {
	t.Helper()
	built.once.Do(built.build)
	if built.err != nil {
		t.Fatal(built.err)
	}
	line := append(append(slices.Clone(e.within), built.path), args...)
	p := &Process{t: t, command: exec.Command(line[0], line[1:]...)}
	p.command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for name, value := range e.settings {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stdout, p.command.Stderr = e.output(t), e.output(t)
	ended, err := child.Start(p.command)
	if err != nil {
		t.Fatal(err)
	}
	p.ended = ended
	t.Cleanup(p.Kill)
	return p
}

// With returns the installation with other settings for its processes, e.g. PARLANCE_LISTEN.
func (e *Env) With(settings map[string]string) *Env {
	other := *e
	other.settings = maps.Clone(e.settings)
	maps.Copy(other.settings, settings)
	return &other
}

// Within returns the installation with a command that its processes are started by, which replaces
// itself with them, e.g. ip netns exec.
func (e *Env) Within(command ...string) *Env {
	other := *e
	other.within = command
	return &other
}

// Pause suspends the process (SIGSTOP), as a machine that swaps or is migrated does, until Resume.
func (p *Process) Pause() { p.send(syscall.SIGSTOP) }

// Resume continues a paused process.
func (p *Process) Resume() { p.send(syscall.SIGCONT) }

// Ended reports whether the process has ended, by a signal or by itself.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Kill ends the process as a crash would (SIGKILL) and waits for its end.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

// Terminate asks the process to shut down, and waits until it has.
func (p *Process) Terminate() { p.signal(syscall.SIGTERM) }

// signal sends a signal that ends the process and waits for the end.
func (p *Process) signal(s syscall.Signal) {
	p.t.Helper()
	p.send(s)
	<-p.ended
}

func (p *Process) send(s syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("signal %s: %v", s, err)
	}
}

// Files lists the regular files of the bucket.
func (e *Env) Files(t testing.TB) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(e.BlobDir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// output is the writer for the output of processes.
func (e *Env) output(t testing.TB) io.Writer {
	if e.log != nil {
		return e.log
	}
	return t.Output()
}

// PeakMiB returns the largest resident size of the process so far, in MiB. Linux only.
func (p *Process) PeakMiB() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib int
	if _, err := fmt.Sscan(after, &kib); err != nil {
		p.t.Fatalf("no peak in %s: %v", status, err)
	}
	return kib >> 10
}

// Descendant finds a descendant of the process by the first 15 letters of its name. Linux only.
func (p *Process) Descendant(name string) (pid int, ok bool) {
	p.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		p.t.Fatal(err)
	}
	parents, named := map[int]int{}, []int{}
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …
		before, after, _ := strings.Cut(string(stat), " (")
		end := strings.LastIndex(after, ") ")
		var pid, parent int
		if _, err := fmt.Sscan(before, &pid); err != nil || end < 0 {
			continue
		}
		if _, err := fmt.Sscanf(after[end:], ") %c %d", new(rune), &parent); err != nil {
			continue
		}
		parents[pid] = parent
		if after[:end] == name {
			named = append(named, pid)
		}
	}
	for _, pid := range named {
		for above := parents[pid]; above > 0; above = parents[above] {
			if above == p.command.Process.Pid {
				return pid, true
			}
		}
	}
	return 0, false
}
