//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const canFilter = true

// Of struct seccomp_data: the number of the call and the architecture.
const (
	atNumber, atArchitecture = 0, 4
)

// x32 calls of amd64 have this bit; they would pass by the numbers below.
const x32Bit = 0x40000000

// forbidSockets makes the calling thread, and what it starts, unable to make sockets, by a seccomp
// filter. Those between processes (AF_UNIX) are forbidden too: a Postgres may trust whoever reaches
// its socket, and one of a pair can be connected to others. io_uring could make sockets unseen, so
// it is forbidden as well. It cannot be undone.
func forbidSockets() error {
	architecture := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		architecture = unix.AUDIT_ARCH_AARCH64
	}
	const deny = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	// jump goes on by then instructions where the loaded word compares to k, otherwise by other.
	jump := func(compare uint16, k uint32, then, other uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, Jt: then, Jf: other, K: k}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	filter := []unix.SockFilter{
		load(atArchitecture),
		jump(unix.BPF_JEQ, architecture, 0, 6), // of another architecture (32-bit programs): deny
		load(atNumber),
		jump(unix.BPF_JGE, x32Bit, 4, 0),
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 3, 0),
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 2, 0),
		jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 1, 0),
		answer(unix.SECCOMP_RET_ALLOW),
		answer(deny),
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("forbid sockets: %w", errno)
	}
	return nil
}
