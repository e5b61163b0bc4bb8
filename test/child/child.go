// Package child runs programs beside tests and measurements, and sees to it that they end with
// them, also when these are killed.
package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts the command. On Linux the kernel kills it (SIGKILL) when our process ends;
// elsewhere it lives on. ended is closed when it has ended and was waited for. Errors: those of
// exec.Cmd.Start.
func Start(command *exec.Cmd) (ended <-chan struct{}, err error) {
	started, done := make(chan error, 1), make(chan struct{})
	if command.SysProcAttr == nil {
		command.SysProcAttr = new(syscall.SysProcAttr)
	}
	dieWithUs(command.SysProcAttr)
	go func() {
		// The kernel ties the signal to the thread that started the child. Threads come to an end
		// while our process goes on (package sandbox gives one to each program that it runs), so
		// this one is kept for the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // how it ended is in command.ProcessState
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return done, nil
}
