package sound_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/platform/audio"
)

// TestSay speaks by a program in the place of espeak-ng, which answers with a WAV file when it is
// given a text and a voice.
func TestSay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wav := filepath.Join(dir, "spoken.wav")
	spoken := []int16{1, 2, 3}
	if err := os.WriteFile(wav, audio.AppendWAV(nil, audio.Format{Encoding: audio.PCM16, RateHz: 22050}, 1, spoken), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "espeak-ng")
	script := "#!/bin/sh\nif [ \"$(cat)\" != '-v hello' ]; then echo 'nothing to say' >&2; exit 1; fi\n[ \"$2\" = de ] && cat '" + wav + "'\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	find := func(string) (string, error) { return program, nil }
	samples, rateHz, err := sound.Say(t.Context(), find, "de", "-v hello")
	if err != nil || rateHz != 22050 || len(samples) != len(spoken) || samples[2] != 3 {
		t.Errorf("%v at %d Hz: %v", samples, rateHz, err)
	}
	if _, _, err := sound.Say(t.Context(), find, "de", "other"); err == nil || !strings.Contains(err.Error(), "nothing to say") {
		t.Errorf("error %v", err)
	}
	missing := func(string) (string, error) { return "", errors.New("not found") }
	if _, _, err := sound.Say(t.Context(), missing, "de", "hello"); err == nil || !strings.Contains(err.Error(), "apt-get install espeak-ng") {
		t.Errorf("error %v", err)
	}
}
