package sound

import (
	"errors"
	"fmt"
	"io"
	"os"

	"parlance.dev/parlance/platform/audio"
)

// RateHz is the rate of all samples. It is the only one that OpenAI's protocol has for PCM.
const RateHz = 24_000

const (
	// frameSamples is 20 ms.
	frameSamples = RateHz / 50
	// maxFileBytes bounds what is read of a WAV file: an hour in the best quality that is known.
	maxFileBytes = 1 << 30
)

// Source is where the user's voice comes from. It is used by one goroutine.
type Source interface {
	// Read returns the next samples, none when there are none yet. A file has exactly due samples,
	// until its end; a microphone has what it heard since the last call. The error is io.EOF at the
	// end.
	Read(due int) ([]int16, error)
	// Close ends the programs behind it.
	Close() error
}

// file is a WAV file in memory.
type file struct{ left []int16 }

// OpenWAV reads a WAV file: 16-bit PCM, µ-law or A-law, mono or stereo, at a rate of
// platform/audio. It is an error when it has no sound.
func OpenWAV(path string) (Source, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // it was only read
	samples, rateHz, err := audio.ReadWAV(opened, maxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w. `ffmpeg -i FILE -ar %d -ac 1 -c:a pcm_s16le new.wav` writes one that can be read", path, err, RateHz)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("%s has no sound in it", path)
	}
	resampler, err := audio.NewResampler(rateHz, RateHz)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &file{left: resampler.AppendFlush(resampler.AppendResample(nil, samples))}, nil
}

// Read implements Source.
func (f *file) Read(due int) ([]int16, error) {
	if len(f.left) == 0 {
		return nil, io.EOF
	}
	due = min(due, len(f.left))
	next := f.left[:due]
	f.left = f.left[due:]
	return next, nil
}

// Close implements Source.
func (f *file) Close() error { return nil }

// stream is bare samples that arrive from outside: signed, 16 bits, the low byte first.
type stream struct {
	// live sound is sent as it comes, other as time passes.
	live   bool
	pieces chan []int16
	// err is why the stream ended. It is set before pieces is closed.
	err    error
	ready  []int16
	finish func() error // nil: nothing to end
}

// Raw reads bare samples. A read of in cannot be cancelled, so a goroutine may live as long as the
// process.
func Raw(in io.Reader) Source {
	s := &stream{pieces: make(chan []int16, 1)}
	go func() {
		defer close(s.pieces)
		s.err = s.copy(in)
	}()
	return s
}

// copy passes on what it reads, in pieces of 20 ms, and returns why that ended.
func (s *stream) copy(in io.Reader) error {
	decoder := audio.Decoder{Format: audio.Default}
	buffer := make([]byte, 2*frameSamples)
	for {
		n, err := io.ReadFull(in, buffer)
		if n > 0 {
			s.pieces <- decoder.AppendDecode(nil, buffer[:n])
		}
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return io.EOF
		case err != nil:
			return err
		}
	}
}

// Read implements Source.
func (s *stream) Read(due int) ([]int16, error) {
	for s.live || len(s.ready) < due {
		select {
		case piece, more := <-s.pieces:
			if more {
				s.ready = append(s.ready, piece...)
				continue
			}
			if len(s.ready) == 0 {
				return nil, s.err
			}
		default:
		}
		break
	}
	if s.live {
		due = len(s.ready)
	}
	due = min(due, len(s.ready))
	next := s.ready[:due:due]
	s.ready = s.ready[due:]
	return next, nil
}

// Close implements Source.
func (s *stream) Close() error {
	if s.finish == nil {
		return nil
	}
	return s.finish()
}
