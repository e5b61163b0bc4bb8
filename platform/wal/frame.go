package wal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// The kinds of frames.
const (
	kindRecord byte = 1
	// kindDone marks the record as done whose number is in its body.
	kindDone byte = 2
)

const (
	frameHeaderBytes = 21
	// maxBodyBytes bounds a frame. A turn with all results of its tools is far smaller.
	maxBodyBytes = 64 << 20
	// scanWindow is how many bytes are read at once to find the next frame behind damaged bytes.
	scanWindow = 1 << 20
)

// frameMark begins each frame, so that a frame can be found behind damaged bytes.
var frameMark = []byte{0xF5, 'P', 'S', 'L'}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is the header of a frame in the file.
type frame struct {
	kind byte
	seq  uint64
	// at is the offset of the body, length its number of bytes.
	at     int64
	length int
}

// end returns the offset behind the frame.
func (f frame) end() int64 { return f.at + int64(f.length) }

// encodeFrame returns the bytes of a frame.
func encodeFrame(kind byte, seq uint64, body []byte) []byte {
	out := make([]byte, 0, frameHeaderBytes+len(body))
	out = append(out, frameMark...)
	out = append(out, kind)
	out = binary.BigEndian.AppendUint64(out, seq)
	out = binary.BigEndian.AppendUint32(out, uint32(len(body))) //nolint:gosec // at most maxBodyBytes
	out = binary.BigEndian.AppendUint32(out, frameSum(out, body))
	return append(out, body...)
}

func frameSum(header, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, body)
}

// scanned is the result of scan.
type scanned struct {
	frames []frame
	// end is the offset behind the last complete frame.
	end int64
	// damaged counts the bytes between frames that belong to none.
	damaged int64
}

// scan reads the frames between two offsets. Sequence numbers grow: a frame with a smaller number
// than the one before it was written before the file was emptied, and is ignored.
func scan(r io.ReaderAt, from, size int64) (scanned, error) {
	s := scanned{end: from}
	for pos := from; pos < size; {
		f, ok, err := readFrame(r, pos, size)
		if err != nil {
			return scanned{}, err
		}
		if !ok {
			if pos, err = nextFrame(r, pos+1, size); err != nil {
				return scanned{}, err
			}
			continue
		}
		s.damaged += pos - s.end
		s.end = f.end()
		pos = s.end
		if n := len(s.frames); n == 0 || f.seq > s.frames[n-1].seq {
			s.frames = append(s.frames, f)
		}
	}
	return s, nil
}

// readFrame reads the frame at an offset; false when there is no complete one.
func readFrame(r io.ReaderAt, pos, size int64) (frame, bool, error) {
	if size-pos < frameHeaderBytes {
		return frame{}, false, nil
	}
	header := make([]byte, frameHeaderBytes)
	if _, err := r.ReadAt(header, pos); err != nil {
		return frame{}, false, err
	}
	length := int64(binary.BigEndian.Uint32(header[13:]))
	if !bytes.Equal(header[:4], frameMark) || length > maxBodyBytes || length > size-pos-frameHeaderBytes {
		return frame{}, false, nil
	}
	body := make([]byte, length)
	if _, err := r.ReadAt(body, pos+frameHeaderBytes); err != nil && length > 0 {
		return frame{}, false, err
	}
	if frameSum(header[:17], body) != binary.BigEndian.Uint32(header[17:]) {
		return frame{}, false, nil
	}
	return frame{kind: header[4], seq: binary.BigEndian.Uint64(header[5:]), at: pos + frameHeaderBytes, length: int(length)}, true, nil
}

// nextFrame returns the offset of the next mark; size when there is none.
func nextFrame(r io.ReaderAt, pos, size int64) (int64, error) {
	for ; pos < size; pos += scanWindow - int64(len(frameMark)) {
		window := make([]byte, min(scanWindow, size-pos))
		if _, err := r.ReadAt(window, pos); err != nil {
			return 0, err
		}
		if i := bytes.Index(window, frameMark); i >= 0 {
			return pos + int64(i), nil
		}
		if int64(len(window)) == size-pos {
			break
		}
	}
	return size, nil
}
