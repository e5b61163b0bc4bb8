package child_test

import (
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"parlance.dev/parlance/test/child"
)

// TestOutlivesThreads: threads that end, as those of sandboxed programs do, take no child with
// them.
func TestOutlivesThreads(t *testing.T) {
	const children, threads = 8, 64
	var all []<-chan struct{}
	var commands []*exec.Cmd
	for range children {
		command := exec.CommandContext(t.Context(), "sleep", "600")
		ended, err := child.Start(command)
		if err != nil {
			t.Fatal(err)
		}
		all, commands = append(all, ended), append(commands, command)
	}
	var together sync.WaitGroup
	release := make(chan struct{})
	for range threads {
		together.Go(func() {
			runtime.LockOSThread() // and never unlocked
			<-release
		})
	}
	close(release)
	together.Wait()
	// A thread has ended before the next program is waited for, or soon after: the kernel's signal
	// comes with it.
	for range threads {
		if err := exec.CommandContext(t.Context(), "true").Run(); err != nil {
			t.Fatal(err)
		}
	}
	for i, ended := range all {
		select {
		case <-ended:
			t.Errorf("child %d ended: %s", i, commands[i].ProcessState)
		default:
		}
	}
	for i, command := range commands {
		if err := command.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-all[i]
	}
}
