// Package port keeps TCP ports for programs that tests start: nobody else on the machine gets such
// a port before the program listens on it, nor between its end and its next start.
package port

import (
	"net"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// Reserve returns an address on loopback that nobody listens on, and keeps it until the test ends.
// A program may listen there that sets SO_REUSEADDR first, as Go's listeners and Redis do.
//
// On Linux the address is bound by a socket that never listens, so the kernel gives its port to
// nobody who asks for any. Elsewhere a bound address is nobody else's to bind, and the port is
// only likely to stay free.
func Reserve(t testing.TB) string {
	t.Helper()
	fd, err := bound()
	if err != nil {
		t.Fatalf("port: %v", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatalf("port: %v", err)
	}
	if runtime.GOOS == "linux" {
		t.Cleanup(func() { _ = syscall.Close(fd) }) // nothing was written
	} else {
		_ = syscall.Close(fd) // nothing was written
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
}

// bound is a socket on a port that the kernel chose.
func bound() (fd int, err error) {
	syscall.ForkLock.RLock() // a program started now must not inherit it
	fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return 0, err
	}
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		_ = syscall.Close(fd) // nothing was written
	}
	return fd, err
}
