package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	// maxLineBytes bounds one line of a stream.
	maxLineBytes = 4 << 20
	// maxEventBytes bounds an event, which may have as many lines as it likes.
	maxEventBytes = maxLineBytes
	// roomBytes are enough for nearly all.
	roomBytes = 4 << 10
)

// errLong ends a stream with an event that is too long to be one.
var errLong = errors.New("an event of more than 4 MiB")

// rooms are where streams are read into.
var rooms = sync.Pool{New: func() any { return new([roomBytes]byte) }}

// Events reads server-sent events. Their names are not kept: the vendors repeat them in the
// data, or send none. A body that is one JSON object instead, as a server sends it that does not know how to
// stream, is read as one event.
type Events struct {
	lines    *bufio.Scanner
	room     *[roomBytes]byte
	data     []byte
	err      error
	streamed bool
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
			if !e.streamed && line[0] == '{' {
				return e.whole(line)
			}
			e.streamed = e.streamed || field(line)
			continue
		}
		e.streamed = true
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		if !e.add(bytes.TrimPrefix(value, []byte(" "))) {
			return false
		}
	}
	return e.lines.Err() == nil && len(e.data) > 0
}

// field says whether a line is one that events have besides their data.
func field(line []byte) bool {
	name, _, found := bytes.Cut(line, []byte(":"))
	return found && (len(name) == 0 || string(name) == "event" || string(name) == "id" || string(name) == "retry")
}

// whole reads all that there is, of which line is the first.
func (e *Events) whole(line []byte) bool {
	for ok := true; ok; line = e.lines.Bytes() {
		if !e.add(line) || !e.add([]byte("\n")) {
			return false
		}
		ok = e.lines.Scan()
	}
	return e.lines.Err() == nil
}

// add takes a piece of the event's data; false when it would be too long.
func (e *Events) add(piece []byte) bool {
	if len(e.data)+len(piece) > maxEventBytes {
		e.err = errLong
		return false
	}
	e.data = append(e.data, piece...)
	return true
}

// Data is the data of the event that Next found; it is good until the next one.
func (e *Events) Data() []byte { return e.data }

// Streamed says whether anything in the body looked like events.
func (e *Events) Streamed() bool { return e.streamed }

// Err is why Next returned false; nil at the stream's end.
func (e *Events) Err() error {
	if e.err != nil {
		return e.err
	}
	return e.lines.Err()
}
