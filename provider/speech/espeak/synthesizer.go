package espeak

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/speech"
)

const (
	program = "espeak-ng"
	// wordsPerMinute is espeak-ng's own speed. It takes 80 to 450.
	wordsPerMinute    = 175
	minWordsPerMinute = 80
	maxWordsPerMinute = 450
	// maxTextBytes is some pages; a conversation sends sentences.
	maxTextBytes = 16 << 10
	// pieceSamples is the length of a piece: 200 ms at the rate of most voices.
	pieceSamples = 4410

	// A sentence of twenty words was seen to take 30 ms and 12 MB.
	cpuSeconds  = 20
	memoryBytes = 256 << 20
	outputBytes = 64 << 20
	// fileBytes has room for the shared memory of PulseAudio, which Debian's build makes and never
	// uses.
	fileBytes = 128 << 20
)

// Config of a Synthesizer. Sandbox is required.
type Config struct {
	Sandbox *sandbox.Sandbox
	// Name is the synthesizer's name in errors and logs; default "espeak".
	Name string
	// Voice is one of Voices, with or without a variant ("de", "en-us+f3"), for a Speech that names
	// neither a voice nor a language; default "en-us".
	Voice string
	// Variant is added to the voice of a language, and to Voice if that has none, e.g. "f3" for a
	// woman's voice. Empty: none.
	Variant string
	// Concurrent is how many sentences are spoken at once; 0: as many as there are cores.
	Concurrent int
	// Timeouts: FirstAudio bounds a sentence, with the wait for others.
	Timeouts speech.Timeouts
}

// Synthesizer implements speech.Synthesizer. It is safe for concurrent use.
type Synthesizer struct {
	config Config
	voices []Voice
	turns  *semaphore.Weighted
	party  speech.Party
}

// Programs are what must be installed; Debian has it in the package espeak-ng.
func Programs() []string { return []string{program} }

// New asks the program for its voices. Errors: sandbox.NotStarted when it is not installed; the
// configured voice is not one of them.
func New(ctx context.Context, cfg Config) (*Synthesizer, error) {
	cfg.Name, cfg.Voice = cmp.Or(cfg.Name, "espeak"), cmp.Or(cfg.Voice, "en-us")
	cfg.Concurrent = cmp.Or(max(cfg.Concurrent, 0), runtime.GOMAXPROCS(0))
	cfg.Timeouts = cfg.Timeouts.WithDefaults()
	s := &Synthesizer{config: cfg, turns: semaphore.NewWeighted(int64(cfg.Concurrent)), party: speech.Party{Name: cfg.Name}}
	var list bytes.Buffer
	if err := s.run(ctx, sandbox.Command{Args: []string{"--voices"}, Stdout: &list}); err != nil {
		return nil, fmt.Errorf("ask espeak-ng for its voices: %w", err)
	}
	s.voices = parseVoices(list.String())
	if !s.isVoice(cfg.Voice) {
		return nil, fmt.Errorf("espeak-ng has no voice %q", cfg.Voice)
	}
	if cfg.Variant != "" && !variantPattern.MatchString(cfg.Variant) {
		return nil, fmt.Errorf("%q is no variant of espeak-ng's voices", cfg.Variant)
	}
	return s, nil
}

// WithVariant is the same synthesizer with another Config.Variant. Both share the limit of
// sentences at once. A variant that espeak-ng does not have changes nothing.
func (s *Synthesizer) WithVariant(variant string) *Synthesizer {
	varied := *s
	varied.config.Variant = variant
	return &varied
}

// Name is the configured name.
func (s *Synthesizer) Name() string { return s.config.Name }

// Speak implements speech.Synthesizer. A voice that espeak-ng does not have, such as another
// service's, is replaced by that of the language. Errors: also upstream-failed for a language that
// it does not have.
func (s *Synthesizer) Speak(ctx context.Context, asked speech.Speech, emit func(speech.Piece) error) error {
	if strings.TrimSpace(asked.Text) == "" {
		return nil
	}
	voice, err := s.voiceFor(asked)
	if err != nil {
		return err
	}
	if len(asked.Text) > maxTextBytes {
		return fault.New(fault.UpstreamFailed, "%s speaks at most %d bytes at once.", s.Name(), maxTextBytes)
	}
	within, cancel := context.WithTimeout(ctx, s.config.Timeouts.FirstAudio)
	defer cancel()
	if err := s.turns.Acquire(within, 1); err != nil {
		return s.failed(ctx, err)
	}
	var wav bytes.Buffer
	err = s.run(within, sandbox.Command{
		Args:  []string{"--stdout", "-b", "1", "-v", s.argument(voice), "-s", strconv.Itoa(speedOf(asked.Speed)), "--stdin"},
		Stdin: strings.NewReader(spellable(asked.Text)), Stdout: &wav,
	})
	s.turns.Release(1)
	if err != nil {
		return s.failed(ctx, err)
	}
	return s.emit(wav.Bytes(), emit)
}

// emit hands on the samples of a WAV file.
func (s *Synthesizer) emit(wav []byte, emit func(speech.Piece) error) error {
	samples, rate, err := audio.ReadWAV(bytes.NewReader(wav), outputBytes)
	if err != nil || len(samples) == 0 {
		return s.party.Unreadable(cmp.Or(err, errors.New("no samples")), "audio")
	}
	for len(samples) > 0 {
		n := min(pieceSamples, len(samples))
		if err := emit(speech.Piece{Samples: samples[:n:n], Rate: rate, Provider: s.Name()}); err != nil {
			return fmt.Errorf("take speech: %w", err)
		}
		samples = samples[n:]
	}
	return nil
}

// run runs the program in a box of its own.
func (s *Synthesizer) run(ctx context.Context, c sandbox.Command) error {
	box, err := s.config.Sandbox.Open(ctx)
	if err != nil {
		return err
	}
	c.Program, c.Processes, c.CPUSeconds, c.MemoryBytes = program, 4, cpuSeconds, memoryBytes
	c.OutputBytes, c.FileBytes, c.WallTime = outputBytes, fileBytes, time.Minute
	return errors.Join(box.Run(ctx, c), box.Close())
}

// failed is the error for a run that did not end well. ctx is the caller's.
func (s *Synthesizer) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("speaking with espeak-ng: %w", ctx.Err())
	}
	message := "%s could not speak."
	end, ok := errors.AsType[*sandbox.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		message = "%s did not begin to speak in time."
	case ok && end.Kind == sandbox.NotStarted:
		message = "%s could not be started. Is the package espeak-ng installed?"
	}
	return fault.Wrap(err, fault.UpstreamFailed, message, s.Name())
}

func speedOf(speed float64) int {
	if speed <= 0 {
		return wordsPerMinute
	}
	return max(minWordsPerMinute, min(maxWordsPerMinute, int(math.Round(wordsPerMinute*speed))))
}

// spellable breaks up what espeak-ng takes for phonemes: [[h@loU]].
func spellable(text string) string { return strings.ReplaceAll(text, "[[", "[ [") }
