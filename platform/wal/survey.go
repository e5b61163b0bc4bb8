package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// leastRoom is what must be left on the disk for a log to be of use.
const leastRoom = 1 << 20

// Left is what one process has in a directory, or has left there.
type Left struct {
	// Records wait; Bytes are those of their log.
	Records int
	Bytes   int64
	// Written is when the log was last written: the records are at least that old.
	Written time.Time
	// Held says that the process lives.
	Held bool
}

// Survey is what a directory holds, of all processes.
type Survey struct {
	// Waiting are those with records.
	Waiting []Left
	// Aside are the records that nobody could use.
	Aside int
}

// Look reads what is in a directory without the keys, and changes nothing.
func Look(dir string) (Survey, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Survey{}, fmt.Errorf("reading the wal: %w", err)
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
			left, err := lookAt(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) { // else its process has ended meanwhile
				return Survey{}, err
			}
			if left.Records > 0 {
				survey.Waiting = append(survey.Waiting, left)
			}
		}
	}
	return survey, nil
}

func lookAt(dir string) (Left, error) {
	file, err := os.Open(filepath.Join(dir, logName))
	if err != nil {
		return Left{}, err
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return Left{}, fmt.Errorf("reading the wal: %w", err)
	}
	fixed := make([]byte, len(logMagic)+4)
	if _, err := file.ReadAt(fixed, 0); err != nil || string(fixed[:len(logMagic)]) != string(logMagic) {
		return Left{}, nil //nolint:nilerr // too short, or none of ours: there are no records
	}
	found, err := scan(file, int64(len(fixed))+int64(binary.BigEndian.Uint32(fixed[len(logMagic):])), info.Size())
	if err != nil {
		return Left{}, fmt.Errorf("reading the wal: %w", err)
	}
	left := Left{Bytes: info.Size(), Written: info.ModTime(), Held: held(dir)}
	for _, f := range found.frames {
		switch f.kind {
		case kindRecord:
			left.Records++
		case kindDone: // of one that is there
			left.Records--
		}
	}
	return left, nil
}

// held says whether a process has the segment's lock.
func held(dir string) bool {
	lock, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }() // closing is what unlocks
	return errors.Is(flock(lock, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Check says what keeps a record from being kept now; nil: nothing.
func (s *Log) Check() error {
	g := s.own
	g.mu.Lock()
	size, broken := g.size, g.broken
	g.mu.Unlock()
	switch free, err := Room(g.dir); {
	case broken != nil:
		return broken
	case s.config.MaxBytes-size < min(MinMaxBytes, s.config.MaxBytes/10):
		return ErrFull
	case err != nil:
		return err
	case free < leastRoom:
		return fmt.Errorf("%d bytes are left on the disk of the write-ahead log", free)
	}
	return TryWrite(g.dir)
}

// Room is how many bytes are left on a directory's disk.
func Room(dir string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("asking for the room on the log's disk: %w", err)
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil //nolint:unconvert // of other types on other systems
}

// TryWrite writes a file into a directory and removes it.
func TryWrite(dir string) error {
	file, err := os.CreateTemp(dir, ".try-")
	if err != nil {
		return fmt.Errorf("writing the wal: %w", err)
	}
	_, err = file.WriteString("written to see whether it can be\n")
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("writing the wal: %w", err)
	}
	return nil
}
