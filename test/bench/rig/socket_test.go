package rig

import (
	"bufio"
	"bytes"
	"testing"
)

// TestFrames writes frames with each kind of length and reads them back, with and without a buffer
// that holds them.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 125, 126, 4000, 1<<16 - 1, 1 << 16} {
		sent := bytes.Repeat([]byte{7}, size)
		frame := Frame(OpText, sent)
		// A server's frame is a client's without the mask.
		head := len(frame) - size - 4
		frame[1] &^= masked
		wire := append(bytes.Clone(frame[:head]), sent...)
		for _, buffer := range []int{16, 1 << 17} {
			op, got, err := ReadFrame(bufio.NewReaderSize(bytes.NewReader(wire), buffer))
			if err != nil || op != OpText || !bytes.Equal(got, sent) {
				t.Errorf("%d bytes with a buffer of %d: kind %d, %d bytes, %v", size, buffer, op, len(got), err)
			}
		}
	}
}
