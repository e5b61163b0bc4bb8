package wal

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// readHeader reads the header and opens the segment's key. start stays 0 when the header is
// incomplete: then the segment has no frames.
func (g *segment) readHeader(ctx context.Context, sealer Sealer) error {
	fixed := make([]byte, len(logMagic)+4)
	if _, err := g.file.ReadAt(fixed, 0); err != nil || string(fixed[:len(logMagic)]) != string(logMagic) {
		return nil //nolint:nilerr // too short or not a log: there are no records
	}
	blob := make([]byte, min(maxKeyBlob, binary.BigEndian.Uint32(fixed[len(logMagic):])))
	if _, err := g.file.ReadAt(blob, int64(len(fixed))); err != nil {
		return nil //nolint:nilerr // as above
	}
	key, err := sealer.Open(ctx, blob, g.place())
	if err != nil {
		return fmt.Errorf("opening the key of the log's segment %s: %w", g.name, err)
	}
	g.start = int64(len(fixed) + len(blob))
	return g.setKey(key)
}

func (g *segment) setKey(key []byte) error {
	block, err := aes.NewCipher(key)
	if err != nil {
		return fmt.Errorf("preparing the cipher: %w", err)
	}
	if g.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return fmt.Errorf("preparing the cipher: %w", err)
	}
	return nil
}

var errForeign = errors.New("the frame was not sealed with the key of its segment")

// open reads and opens a frame's body.
func (g *segment) open(f frame) ([]byte, error) {
	sealed := make([]byte, f.length)
	if _, err := g.file.ReadAt(sealed, f.at); err != nil {
		return nil, fmt.Errorf("reading the write-ahead log: %w", err)
	}
	body, err := g.aead.Open(nil, nil, sealed, g.associated(f.kind, f.seq))
	if err != nil {
		return nil, errForeign
	}
	return body, nil
}

// associated returns the data that a body is authenticated with.
func (g *segment) associated(kind byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(g.name), kind), seq)
}

func makeBody(stream string, at time.Time, data []byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(stream)))
	body = append(body, stream...)
	body = binary.BigEndian.AppendUint64(body, uint64(at.UnixMicro())) //nolint:gosec // the same bits
	return append(body, data...)
}

func parseBody(body []byte) (stream string, at time.Time, data []byte, ok bool) {
	length, n := binary.Uvarint(body)
	if n <= 0 || length > uint64(len(body)-n) || uint64(len(body)-n)-length < 8 {
		return "", time.Time{}, nil, false
	}
	body = body[n:]
	stream, body = string(body[:length]), body[length:]
	return stream, time.UnixMicro(int64(binary.BigEndian.Uint64(body))).UTC(), body[8:], true //nolint:gosec // the same bits
}
