package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// minFreeBytes is how many bytes must be free on the disk for records to be appended.
const minFreeBytes = 1 << 20

// Left describes the segment of one process, which may have ended.
type Left struct {
	// Records counts the records that are not done, Bytes is their size.
	Records int
	Bytes   int64
	// Written is when the newest of them was written.
	Written time.Time
	// Held is true while the process lives.
	Held bool
}

// Survey describes the segments of all processes in a directory.
type Survey struct {
	// Waiting are the segments that have records.
	Waiting []Left
	// Aside counts the records that were set aside.
	Aside int
}

// Inspect describes the segments in a directory without the keys. It changes nothing.
func Inspect(dir string) (Survey, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Survey{}, fmt.Errorf("reading the write-ahead log: %w", err)
	}
	var survey Survey
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		switch {
		case !entry.IsDir():
		case entry.Name() == asideName:
			files, err := os.ReadDir(name)
			if err != nil {
				return Survey{}, fmt.Errorf("reading the records aside: %w", err)
			}
			survey.Aside = len(files)
		default:
			left, err := inspectSegment(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) { // else its process has ended in the meantime
				return Survey{}, err
			}
			if left.Records > 0 {
				survey.Waiting = append(survey.Waiting, left)
			}
		}
	}
	return survey, nil
}

func inspectSegment(dir string) (Left, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return Left{}, err
	}
	left := Left{Held: held(dir)}
	for _, file := range files {
		info, err := file.Info()
		if _, isRecord := parseName(file.Name()); !isRecord || err != nil { // it was removed in the meantime
			continue
		}
		left.Records++
		left.Bytes += info.Size()
		if info.ModTime().After(left.Written) {
			left.Written = info.ModTime()
		}
	}
	return left, nil
}

// held returns whether a process has the segment's lock.
func held(dir string) bool {
	lock, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }() // closing unlocks
	return errors.Is(flock(lock, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Check returns why a record could not be appended now; nil when it could.
func (s *Log) Check() error {
	g := s.own
	g.mu.Lock()
	size := g.bytes
	g.mu.Unlock()
	switch free, err := Room(g.dir); {
	case s.config.MaxBytes-size < min(MinMaxBytes, s.config.MaxBytes/10):
		return ErrFull
	case err != nil:
		return err
	case free < minFreeBytes:
		return fmt.Errorf("%d bytes are left on the disk of the write-ahead log", free)
	}
	return TryWrite(g.dir)
}

// Room returns how many bytes are free on the disk of a directory.
func Room(dir string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("asking for the free space of the disk of %s: %w", dir, err)
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil // of other types on other systems
}

// TryWrite writes a file into a directory and removes it.
func TryWrite(dir string) error {
	file, err := os.CreateTemp(dir, ".try-")
	if err != nil {
		return fmt.Errorf("writing the write-ahead log: %w", err)
	}
	_, err = file.WriteString("a test of whether this directory can be written\n")
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("writing the write-ahead log: %w", err)
	}
	return nil
}
