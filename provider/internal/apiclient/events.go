package apiclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// maxLineBytes bounds one line of a stream.
	maxLineBytes = 4 << 20
	// maxEventBytes bounds the data of an event, whatever the number of its lines.
	maxEventBytes = maxLineBytes
)

// errTooLong ends a stream with an event over maxEventBytes.
var errTooLong = errors.New("an event of more than 4 MiB")

// Events reads server-sent events. It drops their names, because the vendors repeat them in the
// data or send none. A body that is one JSON object, from a server that cannot stream, is read as
// one event.
type Events struct {
	lines    *bufio.Scanner
	data     []byte
	err      error
	streamed bool
}

// NewEvents returns a reader of the events in body. The caller closes body.
func NewEvents(body io.Reader) *Events {
	e := &Events{lines: bufio.NewScanner(body)}
	e.lines.Buffer(nil, maxLineBytes)
	return e
}

// Next reads to the end of the next event with data, and returns whether there is one. The end of
// the stream ends the last event too. The standard would drop that event, but some servers leave
// out the last empty line; the reader of the data finds out when the event was cut, because it is
// not JSON then.
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
				return e.readObject(line)
			}
			e.streamed = e.streamed || isField(line)
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

// isField returns whether a line is a field of an event other than data, or a comment.
func isField(line []byte) bool {
	name, _, found := bytes.Cut(line, []byte(":"))
	return found && (len(name) == 0 || string(name) == "event" || string(name) == "id" || string(name) == "retry")
}

// readObject reads the whole body, whose first line is given, as the data of one event.
func (e *Events) readObject(line []byte) bool {
	for ok := true; ok; line = e.lines.Bytes() {
		if !e.add(line) || !e.add([]byte("\n")) {
			return false
		}
		ok = e.lines.Scan()
	}
	return e.lines.Err() == nil
}

// add appends to the event's data, and returns false when that becomes too long.
func (e *Events) add(piece []byte) bool {
	if len(e.data)+len(piece) > maxEventBytes {
		e.err = errTooLong
		return false
	}
	e.data = append(e.data, piece...)
	return true
}

// Data returns the data of the event that Next found. It is valid until the next call of Next.
func (e *Events) Data() []byte { return e.data }

// Streamed returns whether anything in the body looked like an event.
func (e *Events) Streamed() bool { return e.streamed }

// Err returns why Next returned false; nil at the end of the stream.
func (e *Events) Err() error {
	if e.err != nil {
		return e.err
	}
	return e.lines.Err()
}
