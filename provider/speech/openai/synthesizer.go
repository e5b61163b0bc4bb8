package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"parlance.dev/parlance/provider/speech"
)

const (
	// defaultRate is that of OpenAI's format pcm.
	defaultRate = 24000
	// maxSpeechBytes bounds what is read of one sentence: more than ten minutes.
	maxSpeechBytes = 32 << 20
	minSpeed       = 0.25
	maxSpeed       = 4
)

// Synthesizer implements speech.Synthesizer. It is safe for concurrent use.
type Synthesizer struct{ server }

// NewSynthesizer checks the configuration. It sends nothing.
func NewSynthesizer(cfg Config) (*Synthesizer, error) {
	made, err := newServer(cfg, DefaultSynthesizer)
	if err != nil {
		return nil, err
	}
	made.config.Voice, made.config.Rate = cmp.Or(made.config.Voice, DefaultVoice), cmp.Or(max(made.config.Rate, 0), defaultRate)
	return &Synthesizer{server: made}, nil
}

// Name is the configured name.
func (s *Synthesizer) Name() string { return s.party.Name }

type speechRequest struct {
	Model          string  `json:"model"`
	Input          string  `json:"input"`
	Voice          string  `json:"voice"`
	ResponseFormat string  `json:"response_format"`
	Speed          float64 `json:"speed,omitempty"`
	Instructions   string  `json:"instructions,omitempty"`
}

// Speak implements speech.Synthesizer. The language is not sent: the models take it from the text.
func (s *Synthesizer) Speak(ctx context.Context, asked speech.Speech, emit func(speech.Piece) error) error {
	if strings.TrimSpace(asked.Text) == "" {
		return nil
	}
	request := speechRequest{
		Model: s.config.Model, Input: asked.Text, Voice: cmp.Or(asked.Voice, s.config.Voice), ResponseFormat: "pcm",
		Instructions: asked.Instructions,
	}
	if asked.Speed > 0 && asked.Speed != 1 {
		request.Speed = max(minSpeed, min(maxSpeed, asked.Speed))
	}
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	within, watch := s.config.Timeouts.WatchAudio(ctx)
	defer watch.Stop()
	res, err := s.caller("audio/speech", "audio/pcm, audio/wav;q=0.5, */*;q=0.1", "application/json", asked.Standby).Post(within, body)
	if err != nil {
		return s.party.Failed(within, false, err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: an error changes nothing
	source, err := s.open(res)
	if err != nil {
		return s.party.Failed(within, false, err)
	}
	return s.read(within, source, watch, emit)
}

// read emits the samples as they come. within is the context of watch.
func (s *Synthesizer) read(within context.Context, source *pcmReader, watch *speech.AudioWatch, emit func(speech.Piece) error) error {
	begun, total := false, 0
	for {
		samples, n, readErr := source.next()
		if total += n; total > maxSpeechBytes {
			return s.party.Unreadable(errors.New("more than 32 MiB"), "the speech of one sentence")
		}
		if len(samples) > 0 {
			begun = true
			if err := watch.Emit(speech.Piece{Samples: samples, Rate: source.decoder.Format.RateHz, Provider: s.Name()}, emit); err != nil {
				return fmt.Errorf("take speech: %w", err)
			}
		}
		switch {
		case errors.Is(readErr, io.EOF) && !begun:
			return s.party.Unreadable(errors.New("an empty body"), "PCM audio")
		case errors.Is(readErr, io.EOF):
			return nil
		case readErr != nil:
			return s.party.Failed(within, begun, readErr)
		}
	}
}
