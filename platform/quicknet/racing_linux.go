//go:build race

package quicknet

import (
	"errors"
	"syscall"
)

// raw is made by package syscall: it tells the race detector, which sees no bytes, that what is read was written before,
// at whichever end of it net's own connections are.
func raw(number, fd uintptr, p []byte) (int, syscall.Errno) {
	transfer := syscall.Read
	if number == syscall.SYS_WRITE {
		transfer = syscall.Write
	}
	n, err := transfer(int(fd), p) //nolint:gosec // a descriptor
	errno, _ := errors.AsType[syscall.Errno](err)
	return max(n, 0), errno
}
