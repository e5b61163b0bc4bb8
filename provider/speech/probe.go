package speech

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parlance.dev/parlance/platform/audio"
)

// ProbeText is the sentence that the probes speak and hear.
const ProbeText = "The boat leaves the harbour at noon."

// Spoken is what a synthesizer did in ProbeSynthesizer.
type Spoken struct {
	// Samples are ProbeText at HearingRate, as ProbeTranscriber takes them.
	Samples []int16
	// FirstAudio and Took are the times to the first and to the last samples.
	FirstAudio, Took time.Duration
}

// Seconds is how long the sentence is.
func (s Spoken) Seconds() float64 { return float64(len(s.Samples)) / HearingRate }

// ProbeSynthesizer has a synthesizer speak one sentence with the voice of s. now measures. Errors:
// those of Synthesizer.Speak; the sentence is silence.
func ProbeSynthesizer(ctx context.Context, by Synthesizer, s Speech, now func() time.Time) (Spoken, error) {
	s.Text = ProbeText
	var spoken Spoken
	var resampler *audio.Resampler
	began := now()
	err := by.Speak(ctx, s, func(p Piece) (err error) {
		if spoken.FirstAudio == 0 {
			spoken.FirstAudio = now().Sub(began)
		}
		if resampler == nil {
			if resampler, err = audio.NewResampler(p.Rate, HearingRate); err != nil {
				return fmt.Errorf("resample: %w", err)
			}
		}
		spoken.Samples = resampler.AppendResample(spoken.Samples, p.Samples)
		return nil
	})
	spoken.Took = now().Sub(began)
	switch {
	case err != nil:
		return Spoken{}, err
	case resampler == nil || isSilence(spoken.Samples):
		return Spoken{}, errors.New("it spoke a sentence without a sound")
	}
	spoken.Samples = resampler.AppendFlush(spoken.Samples)
	return spoken, nil
}

func isSilence(samples []int16) bool {
	for _, sample := range samples {
		if sample > 100 || sample < -100 { // -50 dB
			return false
		}
	}
	return true
}

// ProbeTranscriber has a transcriber hear ProbeText, or without samples a second of silence, of
// which it need not understand a word. It returns the transcript and how long it took. Errors:
// those of Transcribe; no word was heard in the samples.
func ProbeTranscriber(ctx context.Context, t StreamTranscriber, samples []int16, now func() time.Time) (Transcript, time.Duration, error) {
	u := Utterance{Samples: samples, Options: Options{Language: "en"}}
	if len(samples) == 0 {
		u.Samples = make([]int16, HearingRate)
	}
	began := now()
	heard, err := Transcribe(ctx, t, u)
	took := now().Sub(began)
	if err == nil && len(samples) > 0 && strings.TrimSpace(heard.Text) == "" {
		err = fmt.Errorf("it heard no word in %q", ProbeText)
	}
	return heard, took, err
}
