package wal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/seal"
)

const (
	keyName  = "key"
	lockName = "lock"
	keyBytes = 32
	// temporary is the pattern of a record that is being written.
	temporary = ".new-*"
)

// entry is a record that is not done.
type entry struct {
	stream  string
	written time.Time
	bytes   int64
}

// segment has the records of one process. This process holds its lock.
type segment struct {
	name, dir string
	lock      *os.File
	// sealedKey is the key of aead as it is on disk.
	sealedKey []byte
	aead      cipher.AEAD

	mu      sync.Mutex
	seq     uint64
	bytes   int64 // of pending
	pending map[uint64]entry
}

func newSegment(dir, name string) *segment {
	return &segment{name: name, dir: filepath.Join(dir, name), pending: map[uint64]entry{}}
}

// place binds the sealed key to its segment.
func (g *segment) place() seal.Binding {
	return seal.Binding{Record: "wal/" + g.name, Field: "key"}
}

// create makes an empty segment. The caller holds the lock of the log.
func create(ctx context.Context, dir string, sealer Sealer) (made *segment, err error) {
	g := newSegment(dir, rand.Text())
	key := make([]byte, keyBytes)
	rand.Read(key)
	if g.sealedKey, err = sealer.Seal(ctx, key, g.place()); err != nil {
		return nil, fmt.Errorf("sealing the log's key: %w", err)
	}
	if g.aead, err = seal.NewAEAD(key); err != nil {
		return nil, err
	}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a segment of the write-ahead log: %w", err)
	}
	defer func() {
		if err != nil {
			g.release()
			err = errors.Join(err, os.RemoveAll(g.dir))
		}
	}()
	if locked, err := g.tryLock(); err != nil || !locked {
		return nil, errors.Join(err, errors.New("another process has locked a new segment of the write-ahead log"))
	}
	return g, errors.Join(writeDurably(g.dir, keyName, g.sealedKey), syncDir(dir))
}

// adopt opens a segment whose process has ended; nil when a process holds its lock. It counts the
// damaged records. The caller holds the lock of the log.
func adopt(ctx context.Context, dir, name string, sealer Sealer) (adopted *segment, damaged int, err error) {
	g := newSegment(dir, name)
	locked, err := g.tryLock()
	if err != nil || !locked {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			g.release()
		}
	}()
	if g.sealedKey, err = os.ReadFile(filepath.Join(g.dir, keyName)); errors.Is(err, fs.ErrNotExist) {
		return g, 0, nil // the process died before it could write a record
	} else if err != nil {
		return nil, 0, fmt.Errorf("reading the key of the log's segment %s: %w", name, err)
	}
	key, err := sealer.Open(ctx, g.sealedKey, g.place())
	if err == nil {
		g.aead, err = seal.NewAEAD(key)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("opening the key of the log's segment %s: %w", name, err)
	}
	files, err := os.ReadDir(g.dir)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the write-ahead log: %w", err)
	}
	for _, file := range files {
		seq, isRecord := parseName(file.Name())
		if !isRecord {
			continue
		}
		g.seq = max(g.seq, seq)
		switch e, _, err := g.read(seq); {
		case errors.Is(err, errDamaged):
			damaged++
		case err != nil:
			return nil, 0, err
		default:
			g.add(seq, e)
		}
	}
	return g, damaged, nil
}

// append writes a record. Errors: ErrFull when the records would take more than maxBytes.
func (g *segment) append(stream string, at time.Time, data []byte, maxBytes int64) (seq uint64, err error) {
	body := encodeBody(stream, at, data)
	e := entry{stream: stream, written: at, bytes: int64(len(body) + g.aead.Overhead())}
	g.mu.Lock()
	if g.bytes+e.bytes > maxBytes {
		g.mu.Unlock()
		return 0, ErrFull
	}
	g.seq++
	seq = g.seq
	g.add(seq, e)
	g.mu.Unlock()
	if err := writeDurably(g.dir, recordName(seq), g.aead.Seal(nil, nil, body, g.associated(seq))); err != nil {
		return 0, errors.Join(err, g.remove(seq))
	}
	return seq, nil
}

// add counts a record. The caller holds mu, or nobody else has the segment yet.
func (g *segment) add(seq uint64, e entry) {
	g.pending[seq] = e
	g.bytes += e.bytes
}

// remove removes a record. The next process may find it again when this one dies now.
func (g *segment) remove(seq uint64) error {
	g.mu.Lock()
	g.bytes -= g.pending[seq].bytes
	delete(g.pending, seq)
	g.mu.Unlock()
	if err := os.Remove(g.path(seq)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a record of the write-ahead log: %w", err)
	}
	return nil
}

func (g *segment) has(seq uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.pending[seq]
	return ok
}

func (g *segment) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.pending) == 0
}

var errDamaged = errors.New("the record was not sealed with the key of its segment")

// read reads and opens a record. Errors: errDamaged, those of the disk.
func (g *segment) read(seq uint64) (e entry, data []byte, err error) {
	sealed, err := os.ReadFile(g.path(seq))
	if err != nil {
		return entry{}, nil, fmt.Errorf("reading the write-ahead log: %w", err)
	}
	body, err := g.aead.Open(nil, nil, sealed, g.associated(seq))
	if err != nil {
		return entry{}, nil, errDamaged
	}
	stream, at, data, ok := decodeBody(body)
	if !ok {
		return entry{}, nil, errDamaged
	}
	return entry{stream: stream, written: at, bytes: int64(len(sealed))}, data, nil
}

// associated returns the data that a record is authenticated with.
func (g *segment) associated(seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(g.name), seq)
}

func encodeBody(stream string, at time.Time, data []byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(stream)))
	body = append(body, stream...)
	body = binary.BigEndian.AppendUint64(body, uint64(at.UnixMicro()))
	return append(body, data...)
}

func decodeBody(body []byte) (stream string, at time.Time, data []byte, ok bool) {
	length, n := binary.Uvarint(body)
	if n <= 0 || length > uint64(len(body)-n) || uint64(len(body)-n)-length < 8 {
		return "", time.Time{}, nil, false
	}
	body = body[n:]
	stream, body = string(body[:length]), body[length:]
	return stream, time.UnixMicro(int64(binary.BigEndian.Uint64(body))).UTC(), body[8:], true
}

func (g *segment) path(seq uint64) string { return filepath.Join(g.dir, recordName(seq)) }

func recordName(seq uint64) string { return strconv.FormatUint(seq, 10) }

func parseName(name string) (seq uint64, ok bool) {
	seq, err := strconv.ParseUint(name, 10, 64)
	return seq, err == nil
}

// tryLock takes the lock of the segment; false when another process holds it.
func (g *segment) tryLock() (bool, error) {
	var err error
	if g.lock, err = os.OpenFile(filepath.Join(g.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return false, fmt.Errorf("opening the lock of a segment: %w", err)
	}
	err = flock(g.lock, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return true, nil
	}
	g.release()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return false, fmt.Errorf("locking a segment: %w", err)
}

// release unlocks the segment. Its records stay.
func (g *segment) release() {
	if g.lock != nil {
		_ = g.lock.Close() // nothing was written
	}
}

func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// writeDurably writes a file that is either there as a whole or not at all, also after a crash.
func writeDurably(dir, name string, content []byte) error {
	file, err := os.CreateTemp(dir, temporary)
	if err != nil {
		return fmt.Errorf("writing the write-ahead log: %w", err)
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("writing the write-ahead log: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err == nil {
		err = errors.Join(file.Sync(), file.Close())
	}
	if err != nil {
		return fmt.Errorf("writing the write-ahead log: %w", err)
	}
	return nil
}
