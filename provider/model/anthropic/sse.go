package anthropic

import (
	"bufio"
	"bytes"
	"io"
)

// maxEventBytes bounds one line of the stream.
const maxEventBytes = 4 << 20

// decoder reads server-sent events. The event's name is not kept: Anthropic repeats it as the
// type in the data.
type decoder struct {
	lines *bufio.Scanner
	data  []byte
}

func newDecoder(body io.Reader) *decoder {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEventBytes)
	return &decoder{lines: lines}
}

// next reads on to the end of an event with data. An event that the end of the stream cuts off
// is dropped, as the standard has it.
func (d *decoder) next() bool {
	d.data = nil
	for d.lines.Scan() {
		line := d.lines.Bytes()
		if len(line) == 0 {
			if len(d.data) > 0 {
				return true
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if len(d.data) > 0 {
			d.data = append(d.data, '\n')
		}
		d.data = append(d.data, bytes.TrimPrefix(value, []byte(" "))...)
	}
	return false
}

// failure is why next returned false.
func (d *decoder) failure() error {
	if err := d.lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
