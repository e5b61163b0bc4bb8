package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	runPrefix = "parlance-sandbox-"
	newPrefix = "parlance-newbox-"
)

// runDir holds the boxes of one Sandbox. Its lock says that the process lives.
type runDir struct {
	path string
	lock *os.File
}

// newRunDir gives the directory its name only when it is locked, so that no sweep takes it away.
func newRunDir(parent string) (*runDir, error) {
	made, err := os.MkdirTemp(parent, newPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for boxes: %w", err)
	}
	path := filepath.Join(parent, runPrefix+strings.TrimPrefix(filepath.Base(made), newPrefix))
	lock, err := os.Open(made)
	if err == nil {
		err = errors.Join(
			os.Chmod(made, 0o711), // a box's own user passes through
			syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB),
			os.Rename(made, path),
		)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a directory for boxes: %w", err), os.RemoveAll(made), os.RemoveAll(path))
	}
	return &runDir{path: path, lock: lock}, nil
}

func (d *runDir) remove() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

// sweep removes the directories of processes that were killed: ours by owner, and locked by
// nobody. What it cannot remove stays for the next one.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making ours fails with a better message
	}
	for _, entry := range entries {
		path := filepath.Join(parent, entry.Name())
		if !strings.HasPrefix(entry.Name(), runPrefix) || !entry.IsDir() {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			continue
		}
		lock, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(path) // the next sweep tries again
		}
		_ = lock.Close() // nothing was written
	}
}
