package wal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/seal"
)

const (
	logName  = "log"
	lockName = "lock"
	keyBytes = 32
	// maxKeyBlob bounds the sealed key in a log's header.
	maxKeyBlob = 4096
)

var logMagic = []byte("PRLSPOOL1\n")

// entry is a record that is not done.
type entry struct {
	frame

	stream  string
	written time.Time
}

// segment is the log of one process. This process holds its lock.
type segment struct {
	name, dir string
	lock      *os.File
	file      *os.File
	aead      cipher.AEAD
	// start is the offset of the first frame.
	start int64

	syncing sync.Mutex // taken before mu
	synced  int64

	mu      sync.Mutex
	size    int64
	seq     uint64
	pending map[uint64]entry
	broken  error
}

// place binds the sealed key to its segment.
func (g *segment) place() seal.Binding {
	return seal.Binding{Record: "spool/" + g.name, Field: "key"} // logs on disk have this name
}

// create makes an empty segment. The caller holds the lock of the log.
func create(ctx context.Context, dir string, sealer Sealer) (made *segment, err error) {
	name := rand.Text()
	g := &segment{name: name, dir: filepath.Join(dir, name), pending: map[uint64]entry{}}
	key := make([]byte, keyBytes)
	rand.Read(key) //nolint:errcheck // never fails: the process dies instead (crypto/rand, Go 1.24)
	blob, err := sealer.Seal(ctx, key, g.place())
	if err != nil {
		return nil, fmt.Errorf("sealing the log's key: %w", err)
	}
	if err := g.setKey(key); err != nil {
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
	if g.file, err = os.OpenFile(filepath.Join(g.dir, logName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, fmt.Errorf("making a segment of the write-ahead log: %w", err)
	}
	header := binary.BigEndian.AppendUint32(append([]byte{}, logMagic...), uint32(len(blob))) //nolint:gosec // some 80 bytes
	header = append(header, blob...)
	if _, err := g.file.Write(header); err != nil {
		return nil, fmt.Errorf("writing the write-ahead log: %w", err)
	}
	if err := errors.Join(g.file.Sync(), syncDir(g.dir), syncDir(dir)); err != nil {
		return nil, fmt.Errorf("writing the write-ahead log: %w", err)
	}
	g.start = int64(len(header))
	g.size, g.synced = g.start, g.start
	return g, nil
}

// adopt opens a segment whose process has ended; nil when a process holds its lock. The caller
// holds the lock of the log.
func adopt(ctx context.Context, dir, name string, sealer Sealer) (adopted *segment, found scanned, err error) {
	g := &segment{name: name, dir: filepath.Join(dir, name), pending: map[uint64]entry{}}
	locked, err := g.tryLock()
	if err != nil || !locked {
		return nil, scanned{}, err
	}
	defer func() {
		if err != nil {
			g.release()
		}
	}()
	if g.file, err = os.OpenFile(filepath.Join(g.dir, logName), os.O_RDWR, 0); errors.Is(err, os.ErrNotExist) {
		return g, scanned{}, nil // the process died before it made one
	} else if err != nil {
		return nil, scanned{}, fmt.Errorf("opening a segment of the write-ahead log: %w", err)
	}
	if err := g.readHeader(ctx, sealer); err != nil {
		return nil, scanned{}, err
	}
	if g.start == 0 {
		return g, scanned{}, nil // the process died while it wrote the header
	}
	info, err := g.file.Stat()
	if err != nil {
		return nil, scanned{}, fmt.Errorf("reading the write-ahead log: %w", err)
	}
	if found, err = scan(g.file, g.start, info.Size()); err != nil {
		return nil, scanned{}, fmt.Errorf("reading the write-ahead log: %w", err)
	}
	if err := g.load(found); err != nil {
		return nil, scanned{}, err
	}
	if err := errors.Join(g.file.Truncate(found.end), g.file.Sync()); err != nil {
		return nil, scanned{}, fmt.Errorf("cutting an incomplete frame off the write-ahead log: %w", err)
	}
	g.size, g.synced = found.end, found.end
	return g, found, nil
}

// load fills pending with the records that are not done.
func (g *segment) load(found scanned) error {
	for _, f := range found.frames {
		g.seq = f.seq
		body, err := g.open(f)
		if errors.Is(err, errForeign) {
			continue // the checksum is right and the seal is not: it does not belong to this segment
		}
		switch {
		case err != nil:
			return err
		case f.kind == kindDone && len(body) == 8:
			delete(g.pending, binary.BigEndian.Uint64(body))
		case f.kind == kindRecord:
			stream, at, _, ok := parseBody(body)
			if ok {
				g.pending[f.seq] = entry{frame: f, stream: stream, written: at}
			}
		}
	}
	return nil
}

// append writes a frame, which is durable after sync(upTo). It calls written, unless that is nil,
// with the frame and its number. Errors: ErrFull when the file would become longer than maxSize.
func (g *segment) append(kind byte, body []byte, maxSize int64, written func(seq uint64, f frame)) (upTo int64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken != nil {
		return 0, g.broken
	}
	seq := g.seq + 1
	sealed := g.aead.Seal(nil, nil, body, g.associated(kind, seq))
	if len(sealed) > maxBodyBytes {
		return 0, fmt.Errorf("a record of %d bytes is too large for the write-ahead log", len(body))
	}
	encoded := encodeFrame(kind, seq, sealed)
	if g.size+int64(len(encoded)) > maxSize {
		return 0, ErrFull
	}
	if _, err := g.file.WriteAt(encoded, g.size); err != nil {
		if cut := g.file.Truncate(g.size); cut != nil { // a part of the frame would stay before the next ones
			g.broken = fmt.Errorf("the write-ahead log cannot be written any more: %w", cut)
		}
		return 0, fmt.Errorf("writing the write-ahead log: %w", err)
	}
	g.seq, g.size = seq, g.size+int64(len(encoded))
	if written != nil {
		written(seq, frame{kind: kind, seq: seq, at: g.size - int64(len(sealed)), length: len(sealed)})
	}
	return g.size, nil
}

// sync makes the file durable up to the offset upTo.
func (g *segment) sync(upTo int64) error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	if g.synced >= upTo {
		return nil
	}
	g.mu.Lock()
	size, broken := g.size, g.broken
	g.mu.Unlock()
	if broken != nil {
		return broken
	}
	if err := g.file.Sync(); err != nil { // the kernel may have dropped the data: a second fsync would wrongly succeed
		g.mu.Lock()
		defer g.mu.Unlock()
		g.broken = fmt.Errorf("the write-ahead log cannot be written any more: %w", err)
		return g.broken
	}
	g.synced = size
	return nil
}

// done removes a record, and empties the file when it was the last one. After an error the next
// process may find the record again, so applying a record twice must be harmless.
func (g *segment) done(seq uint64) error {
	_, err := g.append(kindDone, binary.BigEndian.AppendUint64(nil, seq), math.MaxInt64, nil)
	g.syncing.Lock()
	defer g.syncing.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pending, seq)
	if err != nil || len(g.pending) > 0 {
		return err
	}
	if err := errors.Join(g.file.Truncate(g.start), g.file.Sync()); err != nil {
		return fmt.Errorf("emptying the write-ahead log: %w", err)
	}
	g.size, g.synced = g.start, g.start
	return nil
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
	_ = g.lock.Close() // not locked, nothing written
	g.lock = nil
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return false, fmt.Errorf("locking a segment: %w", err)
}

// release closes the segment, which unlocks it. Its records stay.
func (g *segment) release() {
	for _, file := range []*os.File{g.file, g.lock} {
		if file != nil {
			_ = file.Close() // what had to be on disk was synced
		}
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

func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
