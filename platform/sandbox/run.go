package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// stderrBytes of a program's words are kept, the last ones.
	stderrBytes = 4 << 10
	// startedGrace is how long the byte of the starter is waited for when all have ended.
	startedGrace = 10 * time.Second
)

var (
	errWallTime = errors.New("it took too long")
	errOutput   = errors.New("it wrote too much")
	errSink     = errors.New("its output was not taken")
)

// Run runs a program in the box until it ends. When it returns, nothing of it runs any more.
// Errors: *Error for a bad end; the error of c.Stdout's Write as it is; ctx's.
func (b *Box) Run(ctx context.Context, c Command) error {
	c = c.normal()
	path, err := program(c.Program)
	if err != nil {
		return err
	}
	timed, stop := context.WithTimeoutCause(ctx, c.WallTime, errWallTime)
	defer stop()
	running, cancel := context.WithCancelCause(timed)
	defer cancel(nil)

	r := &run{
		command: c, stderr: &tail{}, layer: b.sandbox.layer,
		stdout: &sink{to: c.Stdout, left: c.OutputBytes, ended: ctx.Err, end: cancel},
	}
	if err := r.prepare(running, b, path); err != nil {
		return err
	}
	waited := r.startAndWait()
	started := r.sawStart()
	if err := r.stdout.refused(); err != nil {
		return err
	}
	if waited == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", c.Program, context.Cause(ctx))
	}
	return r.judge(waited, started, context.Cause(running))
}

// run is one running program.
type run struct {
	command Command
	layer   layer
	cmd     *exec.Cmd
	stdout  *sink
	stderr  *tail
	// mark is our end of the pipe that the starter writes to, theirs the other.
	mark, theirs *os.File
}

func (r *run) prepare(ctx context.Context, b *Box, path string) (err error) {
	words, home := r.layer.wrap(b.path, r.layer.arguments(r.command, path))
	r.cmd = exec.CommandContext(ctx, words[0], words[1:]...)
	r.cmd.Dir, r.cmd.Env = b.path, r.command.environment(home)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = r.command.Stdin, r.stdout, r.stderr
	r.cmd.WaitDelay = r.command.WallTime // for output that is still being taken when the program has ended
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.layer.attributes(r.cmd.SysProcAttr, b.uid)
	r.cmd.Cancel = r.killGroup
	if r.mark, r.theirs, err = os.Pipe(); err != nil {
		return fmt.Errorf("pipe to the sandbox: %w", err)
	}
	r.cmd.ExtraFiles = []*os.File{r.theirs} // descriptor 3
	return nil
}

// startAndWait starts the program from a thread of its own. The program inherits the thread's
// priority and filter, and the kernel kills it when that thread ends.
func (r *run) startAndWait() error {
	ended := make(chan error, 1) // its only value
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := r.layer.confine(r.cmd.Dir)
		if err == nil {
			err = r.cmd.Start()
		}
		_ = r.theirs.Close() // the child has its own
		if err != nil {
			ended <- err
			return
		}
		awaitExit(r.cmd.Process.Pid)
		_ = r.killGroup() // what it left behind, which may hold its output open; mostly there is nothing
		ended <- r.cmd.Wait()
	}()
	return <-ended
}

func (r *run) killGroup() error {
	err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// sawStart reports whether the starter came to the program. The pipe ends with its last holder.
func (r *run) sawStart() bool {
	defer r.mark.Close() //nolint:errcheck // read only
	_ = r.mark.SetReadDeadline(time.Now().Add(startedGrace))
	n, _ := r.mark.Read(make([]byte, 1)) // no byte is the answer, whatever the reason
	return n == 1
}

// judge says what kind of end it was.
func (r *run) judge(waited error, started bool, cause error) error {
	e := &Error{Program: r.command.Program, Stderr: r.stderr.String(), err: waited}
	switch {
	case errors.Is(cause, errOutput):
		e.Kind, e.err = OutputLimit, fmt.Errorf("%w: more than %d bytes", errOutput, r.command.OutputBytes)
		return e
	case errors.Is(cause, errWallTime):
		e.Kind, e.err = TimeLimit, fmt.Errorf("%w: more than %s", errWallTime, r.command.WallTime)
		return e
	case !started:
		e.Kind = NotStarted
		return e
	}
	exit, ok := errors.AsType[*exec.ExitError](waited)
	if !ok {
		// The program ended well, and something of it still holds its output, or our stdin failed.
		e.Kind = Killed
		return e
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	if !ok {
		e.Kind = Killed
		return e
	}
	spent := exit.UserTime() + exit.SystemTime()
	return classify(e, status, spent >= time.Duration(r.command.CPUSeconds)*time.Second)
}

// sink passes on what the program writes, up to a number of bytes.
type sink struct {
	to   io.Writer
	left int64
	// ended returns an error when the output is not needed any more, end ends the program.
	ended func() error
	end   context.CancelCauseFunc
	// err is the writer's. It is read when the copying has ended, or was given up: hence the lock.
	mu  sync.Mutex
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.left -= int64(len(p)); s.left < 0 {
		s.end(errOutput)
		return 0, errOutput
	}
	if s.to == nil {
		return len(p), nil
	}
	if err := s.ended(); err != nil {
		return 0, err
	}
	n, err := s.to.Write(p)
	if err != nil {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		s.end(errSink)
	}
	return n, err
}

// refused is the error of the writer, if it had one.
func (s *sink) refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-stderrBytes):]...)
	if over := len(t.kept) - stderrBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.TrimSpace(t.kept)), "\uFFFD")
}
