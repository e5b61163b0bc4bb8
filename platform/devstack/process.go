package devstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// command prepares a program in a process group of its own, so that Ctrl-C reaches it only
// through ctx: SIGTERM to the whole group, SIGKILL after grace.
func command(ctx context.Context, grace time.Duration, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	return cmd
}

// process is a server that we started.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// processParams describe a server to start.
type processParams struct {
	account *account // nil: ourselves
	dir     string   // working directory
	logPath string   // standard output and error are appended to it
	program string
	args    []string
	// abort ends it at once: when it does not become ready, and with dieWithUs also when our process
	// is killed, on Linux.
	abort     syscall.Signal
	dieWithUs bool
}

// startServer starts a server and returns when ready returns true. Its error has the end of the
// server's log when that ended first.
func startServer(ctx context.Context, p processParams, ready func() bool) (*process, error) {
	var logged int64
	info, err := os.Stat(p.logPath)
	if err == nil {
		logged = info.Size()
	}
	proc, err := spawn(p)
	if err != nil {
		return nil, err
	}
	err = poll(ctx, proc.done, ready)
	if err == nil {
		return proc, nil
	}
	proc.kill(p.abort) // nothing of value was written yet
	if errors.Is(err, errEnded) {
		content, _ := os.ReadFile(p.logPath) // the log only adds to the error
		err = fmt.Errorf("%s: %w:\n%s", filepath.Base(p.program), err, lastLines(string(content[min(logged, int64(len(content))):]), 12))
	}
	return nil, err
}

// spawn starts a server in a session of its own. Its environment is empty but for a path, so that
// a developer's PGPORT or PGDATA cannot redirect it.
func spawn(p processParams) (*process, error) {
	logFile, err := os.OpenFile(p.logPath, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = logFile.Close() }()    // the server has its own descriptor
	cmd := exec.Command(p.program, p.args...) //nolint:noctx // it lives longer than the call that starts it
	cmd.Dir = p.dir
	cmd.Env = serverEnv
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: p.account.credential()}
	if p.dieWithUs {
		setDeathSignal(cmd.SysProcAttr, p.abort)
	}

	started := make(chan error, 1)
	proc := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		// The kernel ties a death signal to the thread, not to the process: this goroutine keeps
		// its thread for as long as the server lives. It ends when the server does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(proc.done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended stands in its log
		}
	}()
	err = <-started
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(p.program), err)
	}
	return proc, nil
}

var serverEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// kill sends sig to the process and waits until it has ended.
func (p *process) kill(sig syscall.Signal) {
	if p == nil {
		return
	}
	select {
	case <-p.done: // its id may belong to another process by now
	default:
		_ = p.cmd.Process.Signal(sig) // an error means that it has just ended
	}
	<-p.done
}

// waitGone waits until the process with this id has ended, ours or not.
func waitGone(ctx context.Context, pid int) error {
	if err := poll(ctx, nil, func() bool { return !alive(pid) }); err != nil {
		return fmt.Errorf("wait for process %d to end: %w", pid, err)
	}
	return nil
}

// alive reports whether pid is a process that is not a zombie. Where nothing reaps orphans, as in
// many containers, a server that has ended stays visible.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	if err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	return !zombie(pid)
}
