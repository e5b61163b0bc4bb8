//go:build !race

package quicknet

import (
	"syscall"
	"unsafe"
)

// raw is one call of the kernel that the scheduler does not hear of.
func raw(number, fd uintptr, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // as syscall.Read does
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0 //nolint:gosec // at most len(p)
}
