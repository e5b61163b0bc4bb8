//go:build linux

package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace. Use New.
type Namespace struct {
	t    testing.TB
	name string
	file *os.File
}

// New makes a namespace that ends with the test.
func New(t testing.TB, name string) *Namespace {
	t.Helper()
	n := &Namespace{t: t, name: fmt.Sprintf("parlance-%d-%s", os.Getpid(), name)}
	n.ip("netns", "add", n.name)
	t.Cleanup(func() { n.ip("netns", "delete", n.name) })
	n.ip("-n", n.name, "link", "set", "lo", "up")
	var err error
	if n.file, err = os.Open("/run/netns/" + n.name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.file.Close() }) // only a handle
	return n
}

// Command runs a program within the namespace; its arguments follow.
func (n *Namespace) Command() []string { return []string{"ip", "netns", "exec", n.name} }

// Listen listens within the namespace.
func (n *Namespace) Listen(address string) net.Listener {
	n.t.Helper()
	var listener net.Listener
	err := n.within(func() (err error) {
		listener, err = new(net.ListenConfig).Listen(n.t.Context(), "tcp", address)
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return listener
}

// Dial connects to an address of the namespace, which is an IP address with a port.
func (n *Namespace) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = n.within(func() (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// within runs fn on a thread that is in the namespace. A socket stays in the namespace where it was
// made, so fn may return it.
func (n *Namespace) within(fn func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		ours, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			err = unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			result <- fmt.Errorf("enter the namespace: %w", err)
			return // still locked: the thread ends with the goroutine
		}
		err = fn()
		back := errors.Join(unix.Setns(int(ours.Fd()), unix.CLONE_NEWNET), ours.Close())
		if back == nil {
			runtime.UnlockOSThread()
		}
		result <- errors.Join(err, back)
	}()
	return <-result
}

func (n *Namespace) ip(args ...string) {
	n.t.Helper()
	if output, err := exec.CommandContext(context.WithoutCancel(n.t.Context()), "ip", args...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %v: %v\n%s", args, err, output)
	}
}
