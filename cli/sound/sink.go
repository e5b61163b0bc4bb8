package sound

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"parlance.dev/parlance/platform/audio"
)

// Sink is where the agent's voice goes. It is used by one goroutine.
type Sink interface {
	// Write takes the samples of the next moments, and reports false when it cannot yet.
	Write(samples []int16) bool
	// Lag is how long after Write a sample is heard.
	Lag() time.Duration
	// Err is why it has stopped; nil while it works. A sink that has stopped takes everything.
	Err() error
	// Close plays or writes what it has.
	Close() error
}

// nowhere is a sink of a machine without a loudspeaker.
type nowhere struct{}

// Nowhere takes everything, and nobody hears it.
func Nowhere() Sink { return nowhere{} }

// Write implements Sink.
func (nowhere) Write([]int16) bool { return true }

// Lag implements Sink.
func (nowhere) Lag() time.Duration { return 0 }

// Err implements Sink.
func (nowhere) Err() error { return nil }

// Close implements Sink.
func (nowhere) Close() error { return nil }

// recording is a WAV file that is being written.
type recording struct {
	file   *os.File
	frames int
	err    error
	bytes  []byte
}

// CreateWAV writes a WAV file: mono, 16 bits, RateHz. The file can be read while it is written.
func CreateWAV(path string) (Sink, error) {
	made, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if _, err := made.Write(audio.AppendWAVHeader(nil, audio.Default, 1, audio.UnknownLength)); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), made.Close())
	}
	return &recording{file: made}, nil
}

// Write implements Sink.
func (r *recording) Write(samples []int16) bool {
	if r.err == nil {
		r.bytes = audio.Default.AppendEncode(r.bytes[:0], samples)
		_, r.err = r.file.Write(r.bytes)
		r.frames += len(samples)
	}
	return true
}

// Lag implements Sink.
func (r *recording) Lag() time.Duration { return 0 }

// Err implements Sink.
func (r *recording) Err() error { return r.err }

// Close implements Sink: it writes the file's length into its header.
func (r *recording) Close() error {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return errors.Join(err, r.file.Close())
	}
	_, err := r.file.Write(audio.AppendWAVHeader(nil, audio.Default, 1, r.frames))
	return errors.Join(err, r.file.Close())
}
