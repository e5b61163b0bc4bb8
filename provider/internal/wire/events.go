package wire

import (
	"bufio"
	"bytes"
	"io"
	"sync"
)

const (
	// maxLineBytes bounds one line of a stream.
	maxLineBytes = 4 << 20
	// roomBytes are enough for nearly all.
	roomBytes = 4 << 10
)

// rooms are where streams are read into.
var rooms = sync.Pool{New: func() any { return new([roomBytes]byte) }}

// Events reads server-sent events. Their names are not kept: the vendors repeat them in the
// data, or send none.
type Events struct {
	lines *bufio.Scanner
	room  *[roomBytes]byte
	data  []byte
}

// NewEvents reads body, which stays the caller's to close. End is to be called.
func NewEvents(body io.Reader) *Events {
	e := &Events{lines: bufio.NewScanner(body)}
	e.room, _ = rooms.Get().(*[roomBytes]byte)
	e.lines.Buffer(e.room[:], maxLineBytes)
	return e
}

// End gives back what the stream was read into: nothing is read of it any more.
func (e *Events) End() { rooms.Put(e.room) }

// Next reads on to the end of an event with data. The end of the stream ends the last event
// too: the standard would drop it, but some servers spare the last empty line, and an event
// that was cut is no whole JSON, which its reader finds out.
func (e *Events) Next() bool {
	e.data = e.data[:0]
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 {
			if len(e.data) > 0 {
				return true
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
	}
	return e.lines.Err() == nil && len(e.data) > 0
}

// Data is the data of the event that Next found; it is good until the next one.
func (e *Events) Data() []byte { return e.data }

// Err is why Next returned false; nil at the stream's end.
func (e *Events) Err() error { return e.lines.Err() }
