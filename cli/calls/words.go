package calls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/audio"
)

// onLine is the sound of telephones.
var onLine = audio.Format{Encoding: audio.MuLaw, RateHz: 8000}

const (
	// maxWordsBytes bounds a file that is spoken.
	maxWordsBytes = 64 << 20
	advice        = "`ffmpeg -i FILE -ar 8000 -ac 1 -c:a pcm_mulaw new.wav` writes one that can be read"
)

// rawExtensions are the names of files with bare µ-law.
var rawExtensions = []string{".ulaw", ".mulaw", ".ul", ".pcmu", ".raw"}

// step is something that the phone does by itself in a call: it says sound, or presses keys.
type step struct {
	says  string // for a person
	sound []byte
	keys  string
}

// wordsFlag is a flag whose values are said in the order in which they stand among those of other
// such flags.
type wordsFlag struct {
	play  bool // they are files
	words *[]words
}

// words are the value of --play or --say.
type words struct {
	play bool
	text string
}

// Set implements pflag.Value.
func (f wordsFlag) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty")
	}
	*f.words = append(*f.words, words{f.play, text})
	return nil
}

// String implements pflag.Value.
func (wordsFlag) String() string { return "" }

// Type implements pflag.Value; --help shows it.
func (f wordsFlag) Type() string {
	if f.play {
		return "file"
	}
	return "text"
}

// steps reads the files and speaks the texts of the flags.
func (o *callOptions) steps(ctx context.Context) ([]step, error) {
	var all []step
	for _, one := range o.words {
		spoken, err := one.sound(ctx, o.voice)
		if err != nil {
			return nil, err
		}
		all = append(all, step{says: term.Clean(one.text), sound: spoken})
	}
	if o.press != "" {
		all = append(all, step{says: o.press, keys: o.press})
	}
	return all, nil
}

func (w words) sound(ctx context.Context, voice string) ([]byte, error) {
	if w.play {
		return readSound(w.text)
	}
	samples, rateHz, err := sound.Say(ctx, exec.LookPath, voice, w.text)
	if err != nil {
		return nil, fmt.Errorf("--say: %w", err)
	}
	return encode(samples, rateHz)
}

// readSound reads a WAV file, or one of bare µ-law.
func readSound(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("--play: %w", err))
	}
	if info.Size() > maxWordsBytes {
		return nil, command.Usagef("--play: %s is larger than 64 MiB", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("--play: %w", err))
	}
	if !bytes.HasPrefix(data, []byte("RIFF")) {
		if !slices.Contains(rawExtensions, strings.ToLower(filepath.Ext(path))) {
			return nil, command.Usagef("--play: %s is no WAV file, and its name does not end as those of bare µ-law do (%s). %s",
				path, strings.Join(rawExtensions, ", "), advice)
		}
		return data, nil
	}
	samples, rateHz, err := audio.ReadWAV(bytes.NewReader(data), maxWordsBytes)
	if err != nil {
		return nil, command.Usagef("--play: %s: %w. %s", path, err, advice)
	}
	return encode(samples, rateHz)
}

// encode makes the sound of telephones.
func encode(samples []int16, rateHz int) ([]byte, error) {
	resampler, err := audio.NewResampler(rateHz, onLine.RateHz)
	if err != nil {
		return nil, err
	}
	return onLine.AppendEncode(nil, resampler.AppendFlush(resampler.AppendResample(nil, samples))), nil
}
