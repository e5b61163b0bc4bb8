package voices

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"parlance.dev/parlance/platform/audio"
)

// maker is that of Say: one a process, which makes a text once for all its tests.
var maker = sync.OnceValues(func() (*Maker, error) { return NewMaker(context.Background()) })

// Say speaks a text by a voice of flite or espeak-ng at its own speed: mono, at a rate of
// platform/audio, at Level, without silence before and after. The test fails when it cannot.
func Say(t testing.TB, engine, voice, text string, rateHz int) []int16 {
	t.Helper()
	m, err := maker()
	if err != nil {
		t.Fatal(err)
	}
	speed := map[string]string{"flite": "1", "espeak-ng": "160"}[engine]
	if speed == "" {
		t.Fatalf("%q is neither flite nor espeak-ng", engine)
	}
	samples, err := m.Say(Voice{Engine: engine, Name: voice, Speed: speed}, text)
	if err == nil {
		samples, err = AtRate(samples, RateHz, rateHz)
	}
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// AtRate is a copy of samples at another rate of platform/audio.
func AtRate(samples []int16, fromHz, toHz int) ([]int16, error) {
	resampler, err := audio.NewResampler(fromHz, toHz)
	if err != nil {
		return nil, fmt.Errorf("change a rate: %w", err)
	}
	return resampler.AppendFlush(resampler.AppendResample(nil, samples)), nil
}

// WithNoise is samples with pink noise, snrDB below their own level. The same seed gives the same
// noise.
func WithNoise(samples []int16, snrDB float64, seed uint64) []int16 {
	noise := PinkNoise(rand.New(rand.NewPCG(seed, 0)), len(samples))
	mixed := append([]int16(nil), samples...)
	Mix(mixed, AtLevel(noise, audio.Level(samples)-snrDB), 0, 0)
	return mixed
}
