package devstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// pollEvery is how often locks and starting servers are polled; neither can be waited for with a
// context.
const pollEvery = 10 * time.Millisecond

// errEnded is the error of poll when the process ended first.
var errEnded = errors.New("it ended while starting")

// poll calls ready until it returns true. ended is closed when the process has ended that is waited
// for; nil: never. Errors: errEnded, ctx's.
func poll(ctx context.Context, ended <-chan struct{}, ready func() bool) error {
	ticks := time.NewTicker(pollEvery)
	defer ticks.Stop()
	for !ready() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return errEnded
		case <-ticks.C:
		}
	}
	return nil
}

// Lock is an advisory lock on a file (flock). The kernel gives it back when the process ends,
// however it ends.
type Lock struct {
	file *os.File
}

// LockExclusive takes the lock at path, waiting until ctx ends. Missing directories are made.
func LockExclusive(ctx context.Context, path string) (*Lock, error) {
	return waitLock(ctx, path, syscall.LOCK_EX)
}

// LockShared takes the lock at path beside other shared holders, waiting until ctx ends.
func LockShared(ctx context.Context, path string) (*Lock, error) {
	return waitLock(ctx, path, syscall.LOCK_SH)
}

// TryLockExclusive takes the lock at path, or returns nil when somebody holds it.
func TryLockExclusive(path string) (*Lock, error) {
	return tryLock(path, syscall.LOCK_EX)
}

// Unlock gives the lock back. It may be called on nil and twice.
func (l *Lock) Unlock() {
	if l != nil {
		_ = l.file.Close() // closing is what unlocks; a read-only file has nothing to lose
	}
}

// upgrade makes a shared lock exclusive if nobody else holds it. On failure the lock is kept as
// it was or lost; the caller unlocks in either case.
func (l *Lock) upgrade() bool {
	return flock(l.file, syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func waitLock(ctx context.Context, path string, how int) (lock *Lock, err error) {
	waited := poll(ctx, nil, func() bool {
		lock, err = tryLock(path, how)
		return err != nil || lock != nil
	})
	if waited != nil {
		return nil, fmt.Errorf("wait for %s: %w", path, waited)
	}
	return lock, err
}

func tryLock(path string, how int) (*Lock, error) {
	err := os.MkdirAll(filepath.Dir(path), 0o711) // the servers' account passes through
	if err != nil {
		return nil, fmt.Errorf("make directory of lock: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // the directory was removed by the last holder: try again
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = flock(file, how|syscall.LOCK_NB)
	if err == nil && sameFile(file, path) {
		return &Lock{file: file}, nil
	}
	_ = file.Close() // not locked, nothing written
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return nil, nil //nolint:nilnil // nil says that somebody else holds it
}

// sameFile reports whether path still is the open file: the last holder of an ephemeral stack
// removes the directory, and a lock on a removed file excludes nobody.
func sameFile(file *os.File, path string) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}

func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
