package wal

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/seal"
)

const (
	asideName = "aside"
	// asideSeparator is behind the stream in the name of a record aside; an escaped stream has none.
	asideSeparator = "@"
	// maxAside bounds the records in the directory aside; the oldest is removed for a new one.
	maxAside = 1000
	// MinMaxBytes is the least MaxBytes: some turns must fit.
	MinMaxBytes = 64 << 10
)

// ErrFull says that the record does not fit below MaxBytes.
var ErrFull = errors.New("the write-ahead log is full")

// Sealer seals with the installation's keys; a seal.Keyring.
type Sealer interface {
	Seal(ctx context.Context, plaintext []byte, place seal.Binding) ([]byte, error)
	Open(ctx context.Context, blob []byte, place seal.Binding) ([]byte, error)
}

// Config configures a log. All fields but Now and Log are required.
type Config struct {
	// Dir is made when it is missing. Several processes may share it.
	Dir string
	// MaxBytes bounds the segment of this process.
	MaxBytes int64
	Seal     Sealer
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Log gets a record for damage; nil discards it.
	Log *slog.Logger
}

// Log holds this process's segment and the segments that it has adopted. Safe for concurrent use.
type Log struct {
	config Config

	mu      sync.Mutex
	own     *segment
	adopted []*segment
	aside   int
}

// Record names a record of a Log.
type Record struct {
	// Stream is the stream that it was appended to, At the time.
	Stream string
	At     time.Time

	seq     uint64
	segment *segment
}

// Stats describes the records of a log.
type Stats struct {
	// Records counts the records that are not done, Oldest is the time of the oldest of them (zero
	// without any), Bytes their size.
	Records int
	Bytes   int64
	Oldest  time.Time
	// Aside counts the records that were set aside, by all processes on the directory.
	Aside int
}

// Open makes this process's segment. Errors: the directory cannot be written; the key cannot be
// sealed.
func Open(ctx context.Context, config Config) (*Log, error) {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.MaxBytes < MinMaxBytes {
		return nil, fmt.Errorf("a write-ahead log of at most %d bytes is too small: give it %d or more", config.MaxBytes, MinMaxBytes)
	}
	if err := os.MkdirAll(filepath.Join(config.Dir, asideName), 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of the write-ahead log: %w", err)
	}
	s := &Log{config: config}
	err := s.exclusively(func() (err error) {
		s.own, err = create(ctx, config.Dir, config.Seal)
		return err
	})
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(filepath.Join(config.Dir, asideName))
	s.aside = len(files)
	return s, err
}

// exclusively runs fn with the lock of the directory: no other process makes or adopts a segment.
func (s *Log) exclusively(fn func() error) error {
	lock, err := os.OpenFile(filepath.Join(s.config.Dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the lock of the write-ahead log: %w", err)
	}
	defer func() { _ = lock.Close() }() // closing unlocks
	if err := flock(lock, syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking the write-ahead log: %w", err)
	}
	return fn()
}

// Append writes a record to a stream. It is on disk when there is no error. Errors: ErrFull, those
// of the disk.
func (s *Log) Append(stream string, data []byte) (Record, error) {
	record := Record{Stream: stream, At: s.config.Now().UTC().Truncate(time.Microsecond), segment: s.own}
	var err error
	record.seq, err = s.own.append(stream, record.At, data, s.config.MaxBytes)
	return record, err
}

// Read returns the data of a record.
func (s *Log) Read(record Record) ([]byte, error) {
	if !record.segment.has(record.seq) {
		return nil, fmt.Errorf("record %d is not in the write-ahead log any more", record.seq)
	}
	_, data, err := record.segment.read(record.seq)
	return data, err
}

// Done removes a record. When the process dies at that moment, the next one may find the record
// again, so applying a record twice must be harmless.
func (s *Log) Done(record Record) error {
	if err := record.segment.remove(record.seq); err != nil {
		return err
	}
	return s.retire(record.segment)
}

// retire removes an adopted segment that is empty.
func (s *Log) retire(g *segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.adopted, g)
	if at < 0 || !g.empty() {
		return nil
	}
	s.adopted = slices.Delete(s.adopted, at, at+1)
	return s.remove(g)
}

func (s *Log) remove(g *segment) error {
	return s.exclusively(func() error {
		defer g.release()
		return os.RemoveAll(g.dir)
	})
}

// SetAside moves a record that cannot be applied to a file in the directory aside, still sealed,
// behind the sealed key of its segment and the length of that. The file's name begins with the
// stream; see ForgetAside.
func (s *Log) SetAside(record Record) error {
	g := record.segment
	if !g.has(record.seq) {
		return nil
	}
	sealed, err := os.ReadFile(g.path(record.seq))
	if err != nil {
		return fmt.Errorf("reading the write-ahead log: %w", err)
	}
	content := append(binary.AppendUvarint(nil, uint64(len(g.sealedKey))), g.sealedKey...)
	name := url.PathEscape(record.Stream) + asideSeparator + g.name + "." + recordName(record.seq)
	if err := s.keepAside(name, append(content, sealed...)); err != nil {
		return err
	}
	return s.Done(record)
}

func (s *Log) keepAside(name string, content []byte) error {
	dir := filepath.Join(s.config.Dir, asideName)
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		return fmt.Errorf("keeping a record aside: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("counting the records aside: %w", err)
	}
	if len(files) > maxAside {
		oldest := slices.MinFunc(files, func(a, b os.DirEntry) int { return cmp.Compare(modified(a), modified(b)) })
		if err := os.Remove(filepath.Join(dir, oldest.Name())); err != nil {
			return fmt.Errorf("removing the oldest record aside: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside = min(len(files), maxAside)
	return nil
}

// AsideStreams returns the streams of the records that were set aside, each once.
func (s *Log) AsideStreams() ([]string, error) {
	var streams []string
	err := s.eachAside(func(stream, _ string) error {
		if !slices.Contains(streams, stream) {
			streams = append(streams, stream)
		}
		return nil
	})
	return streams, err
}

// ForgetAside deletes the records of a stream that were set aside.
func (s *Log) ForgetAside(stream string) error {
	return s.eachAside(func(of, path string) error {
		if of != stream {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // another process may be faster
			return fmt.Errorf("removing a record aside: %w", err)
		}
		return nil
	})
}

// eachAside calls fn for the records aside whose names have their stream: those of older versions
// have not.
func (s *Log) eachAside(fn func(stream, path string) error) error {
	dir := filepath.Join(s.config.Dir, asideName)
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the records aside: %w", err)
	}
	for _, f := range files {
		escaped, _, found := strings.Cut(f.Name(), asideSeparator)
		stream, err := url.PathUnescape(escaped)
		if !found || err != nil {
			continue
		}
		if err := fn(stream, filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

func modified(entry os.DirEntry) int64 {
	info, err := entry.Info()
	if err != nil {
		return 0 // it was removed meanwhile
	}
	return info.ModTime().UnixNano()
}

// Adopt takes over the segments of processes that have ended, and returns their records in the
// order in which they were appended. A segment that cannot be opened does not prevent the others.
func (s *Log) Adopt(ctx context.Context) (records []Record, err error) {
	var failures []error
	locked := s.exclusively(func() error {
		entries, err := os.ReadDir(s.config.Dir)
		if err != nil {
			return fmt.Errorf("reading the write-ahead log: %w", err)
		}
		for _, entry := range entries {
			if !entry.IsDir() || entry.Name() == asideName || s.holds(entry.Name()) {
				continue
			}
			g, damaged, err := adopt(ctx, s.config.Dir, entry.Name(), s.config.Seal)
			if err != nil {
				failures = append(failures, err)
			}
			if err != nil || g == nil {
				continue
			}
			if damaged > 0 {
				s.config.Log.ErrorContext(ctx, "part of a write-ahead log was damaged and is lost", "segment", g.name, "records", damaged)
			}
			if g.empty() {
				g.release()
				failures = append(failures, os.RemoveAll(g.dir))
				continue
			}
			s.mu.Lock()
			s.adopted = append(s.adopted, g)
			s.mu.Unlock()
			records = append(records, g.records()...)
		}
		return nil
	})
	slices.SortStableFunc(records, func(a, b Record) int { return a.At.Compare(b.At) })
	return records, errors.Join(append(failures, locked)...)
}

func (s *Log) holds(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own.name == name || slices.ContainsFunc(s.adopted, func(g *segment) bool { return g.name == name })
}

// records returns the records that are not done, in order.
func (g *segment) records() []Record {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Record, 0, len(g.pending))
	for seq, e := range g.pending {
		all = append(all, Record{Stream: e.stream, At: e.written, seq: seq, segment: g})
	}
	slices.SortFunc(all, func(a, b Record) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// Stats returns figures of the log.
func (s *Log) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := Stats{Aside: s.aside}
	for _, g := range append([]*segment{s.own}, s.adopted...) {
		g.mu.Lock()
		stats.Records += len(g.pending)
		stats.Bytes += g.bytes
		for _, e := range g.pending {
			if stats.Oldest.IsZero() || e.written.Before(stats.Oldest) {
				stats.Oldest = e.written
			}
		}
		g.mu.Unlock()
	}
	return stats
}

// Close unlocks the segments. Records that are not done stay for the process that adopts them.
func (s *Log) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.adopted {
		g.release()
	}
	s.adopted = nil
	if !s.own.empty() {
		s.own.release()
		return nil
	}
	return s.remove(s.own)
}
