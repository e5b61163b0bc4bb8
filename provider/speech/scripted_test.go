package speech_test

import (
	"context"
	"slices"
	"sync"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

// down is what a service answers that is not there; limited one that limits its rate.
func down(name string) error {
	err := fault.New(fault.UpstreamFailed, "%s could not be reached.", name)
	err.Meta = map[string]string{"provider": name}
	return err
}

func limited(name string) *fault.Error {
	err := fault.New(fault.ServiceUnavailable, "%s is limiting our rate.", name)
	err.Meta = map[string]string{"provider": name, "status": "429"}
	return err
}

func broken(name string) error {
	err := fault.New(fault.UpstreamFailed, "%s broke off.", name)
	err.Meta = map[string]string{"provider": name, "why": "broken"}
	return err
}

// hearer is a transcriber whose streams follow a script: each fails where it is told to, and else
// has the number of samples as its text.
type hearer struct {
	name string

	mu      sync.Mutex
	opens   []script
	streams []*hearing
}

// script says where a stream fails.
type script struct {
	open, finish error
	// write fails at the write with this number, from 1; 0: none.
	writeAt int
	write   error
}

type hearing struct {
	script  script
	name    string
	options speech.StreamOptions
	samples []int16
	writes  int
	closed  bool
}

func (h *hearer) Name() string { return h.name }

func (h *hearer) Open(_ context.Context, o speech.StreamOptions) (speech.Stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var s script
	if len(h.opens) > 0 {
		s, h.opens = h.opens[0], h.opens[1:]
	}
	if s.open != nil {
		return nil, s.open
	}
	stream := &hearing{script: s, name: h.name, options: o}
	h.streams = append(h.streams, stream)
	return stream, nil
}

func (s *hearing) Write(samples []int16) error {
	if len(samples) == 0 {
		return nil
	}
	if s.writes++; s.writes == s.script.writeAt {
		return s.script.write
	}
	s.samples = append(s.samples, samples...)
	return nil
}

func (s *hearing) Finish(ctx context.Context) (speech.Transcript, error) {
	if ctx.Err() != nil {
		return speech.Transcript{}, ctx.Err()
	}
	if s.script.finish != nil {
		return speech.Transcript{}, s.script.finish
	}
	return speech.Transcript{Text: "heard", Provider: s.name}, nil
}

func (s *hearing) Close() { s.closed = true }

// speaker is a synthesizer that follows a script of errors, each after some pieces.
type speaker struct {
	name   string
	pieces int
	err    error
	asked  []speech.Speech
}

func (s *speaker) Name() string { return s.name }

func (s *speaker) Speak(_ context.Context, asked speech.Speech, emit func(speech.Piece) error) error {
	s.asked = append(s.asked, asked)
	for range s.pieces {
		if err := emit(speech.Piece{Samples: []int16{1}, Rate: 16000, Provider: s.name}); err != nil {
			return err
		}
	}
	return s.err
}

// all is the samples 0 … n-1.
func all(n int) []int16 {
	samples := make([]int16, n)
	for i := range samples {
		samples[i] = int16(i)
	}
	return samples
}

// writeInTens writes n samples in tens.
func writeInTens(stream speech.Stream, n int) error {
	for piece := range slices.Chunk(all(n), 10) {
		if err := stream.Write(piece); err != nil {
			return err
		}
	}
	return nil
}
