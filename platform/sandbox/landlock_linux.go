package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock can forbid grew with its versions. Source: Linux, userspace-api/landlock.
const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockFirst = 1<<13 - 1
	landlockFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE

	withRefer, withTruncate, withNetwork, withScopes = 2, 3, 4, 6

	// landlockTCP are bind and connect, landlockScopes abstract sockets and signals of others.
	landlockTCP, landlockScopes = 0x3, 0x3
)

// landlockVersion is 0 where the kernel has none, or a container's filter forbids it.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// hideFiles leaves the calling thread, and what it starts, the visible directories to read and the
// box to write. Neither can they look into, or signal, a process that is outside. It cannot be
// undone.
func hideFiles(box string) error {
	version := landlockVersion()
	attr := unix.LandlockRulesetAttr{Access_fs: landlockFirst}
	size := unsafe.Sizeof(attr.Access_fs)
	if version >= withRefer {
		attr.Access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= withTruncate {
		attr.Access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= withNetwork {
		attr.Access_net, size = landlockTCP, size+unsafe.Sizeof(attr.Access_net)
	}
	if version >= withScopes {
		attr.Scoped, size = landlockScopes, unsafe.Sizeof(attr)
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("hide files: %w", errno)
	}
	defer unix.Close(int(set)) //nolint:errcheck // nothing was written
	for _, dir := range visible {
		if err := allow(int(set), dir, landlockRead); err != nil {
			return err
		}
	}
	for _, device := range devices {
		if err := allow(int(set), device, landlockFile); err != nil {
			return err
		}
	}
	if err := allow(int(set), box, attr.Access_fs); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if _, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fmt.Errorf("hide files: %w", errno)
	}
	return nil
}

// allow adds a path to a set of rules; one that is not there is left out.
func allow(set int, path string, access uint64) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("show %s: %w", path, err)
	}
	if !info.IsDir() {
		access &= landlockFile
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("show %s: %w", path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	runtime.KeepAlive(&rule)
	if errno != 0 {
		return fmt.Errorf("show %s: %w", path, errno)
	}
	return nil
}
