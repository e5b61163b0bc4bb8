// Command say writes a sentence as a WAV file, for clients of tests that are not written in Go:
//
//	go run ./test/voices/say -engine flite -voice slt -noise 20 "When are you open?" question.wav
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/test/voices"
)

func main() {
	engine := flag.String("engine", "flite", "flite or espeak-ng")
	voice := flag.String("voice", "slt", "one of the engine's voices")
	noise := flag.Float64("noise", 0, "how many dB the speech is above pink noise; 0: there is none")
	rate := flag.Int("rate", 24_000, "samples a second")
	flag.Parse()
	if err := run(*engine, *voice, *noise, *rate, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "say:", err)
		os.Exit(1)
	}
}

func run(engine, voice string, noiseDB float64, rateHz int, words []string) error {
	if len(words) != 2 {
		return errors.New("give a text and a file")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	speed := map[string]string{"flite": "1", "espeak-ng": "160"}[engine]
	maker, err := voices.NewMaker(ctx)
	if err != nil {
		return err
	}
	samples, err := maker.Say(voices.Voice{Engine: engine, Name: voice, Speed: speed}, words[0])
	if err != nil {
		return err
	}
	if noiseDB > 0 {
		samples = voices.WithNoise(samples, noiseDB, 1)
	}
	if samples, err = voices.AtRate(samples, voices.RateHz, rateHz); err != nil {
		return err
	}
	return os.WriteFile(words[1], audio.AppendWAV(nil, audio.Format{Encoding: audio.PCM16, RateHz: rateHz}, 1, samples), 0o600)
}
