package main

import (
	"bufio"
	"encoding/binary"
	"io"
)

// Frames as RFC 6455, 5.2 has them.
const (
	opText  = 0x1
	opClose = 0x8
	opPing  = 0x9
	opPong  = 0xA
	final   = 0x80
	masked  = 0x80
)

// frameOf is a client's frame; its mask is all zero, which leaves the payload as it is.
func frameOf(op byte, payload []byte) []byte {
	out := []byte{final | op, 0}
	switch n := len(payload); {
	case n < 126:
		out[1] = byte(n)
	case n < 1<<16:
		out[1] = 126
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	default:
		out[1] = 127
		out = binary.BigEndian.AppendUint64(out, uint64(n))
	}
	out[1] |= masked
	return append(append(out, 0, 0, 0, 0), payload...)
}

// readFrame reads a frame of the server, which is whole and not masked. The payload is good until
// the next one.
func readFrame(reader *bufio.Reader, buffer []byte) (op byte, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(reader, head[:2]); err != nil {
		return 0, nil, err
	}
	op = head[0] & 0xF
	n := uint64(head[1] & 0x7F)
	switch n {
	case 126:
		if _, err := io.ReadFull(reader, head[:2]); err != nil {
			return 0, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(head[:2]))
	case 127:
		if _, err := io.ReadFull(reader, head[:8]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(head[:8])
	}
	if n > uint64(cap(buffer)) {
		buffer = make([]byte, n)
	}
	payload = buffer[:n]
	_, err = io.ReadFull(reader, payload)
	return op, payload, err
}
