package wire

import (
	"bufio"
	"bytes"
	"io"
)

// maxLineBytes bounds one line of a stream.
const maxLineBytes = 4 << 20

// Events reads server-sent events. Their names are not kept: the vendors repeat them in the
// data, or send none.
type Events struct {
	lines *bufio.Scanner
	data  []byte
}

// NewEvents reads body, which stays the caller's to close.
func NewEvents(body io.Reader) *Events {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLineBytes)
	return &Events{lines: lines}
}

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
