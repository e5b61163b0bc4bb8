package voices_test

import (
	"math"
	"slices"
	"testing"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/test/voices"
)

// TestSay: every voice speaks at the same level, at any rate, and the same way each time.
func TestSay(t *testing.T) {
	t.Parallel()
	const text = "When are you open?"
	for _, by := range [][2]string{{"flite", "slt"}, {"flite", "rms"}, {"flite", "awb"}, {"flite", "kal16"}, {"espeak-ng", "en-us"}} {
		at16, at24 := voices.Say(t, by[0], by[1], text, 16_000), voices.Say(t, by[0], by[1], text, 24_000)
		if seconds := float64(len(at16)) / 16_000; seconds < 0.6 || seconds > 2 {
			t.Errorf("%v: %.1f s", by, seconds)
		}
		if len(at24) != (len(at16)*3+1)/2 {
			t.Errorf("%v: %d samples at 24 kHz, %d at 16 kHz", by, len(at24), len(at16))
		}
		for _, samples := range [][]int16{at16, at24} {
			if level := audio.Level(samples); math.Abs(level-voices.Level) > 0.5 {
				t.Errorf("%v: %.1f dB", by, level)
			}
		}
		if !slices.Equal(voices.Say(t, by[0], by[1], text, 16_000), at16) {
			t.Errorf("%v: another sound the second time", by)
		}
	}
}

// TestWithNoise measures what was added.
func TestWithNoise(t *testing.T) {
	t.Parallel()
	clean := voices.Say(t, "flite", "slt", "When are you open?", 16_000)
	before := slices.Clone(clean)
	noisy := voices.WithNoise(clean, 20, 1)
	if !slices.Equal(clean, before) {
		t.Error("the clean samples were changed")
	}
	added := make([]int16, len(clean))
	for i := range clean {
		added[i] = noisy[i] - clean[i]
	}
	if snr := audio.Level(clean) - audio.Level(added); math.Abs(snr-20) > 0.2 {
		t.Errorf("%.1f dB, want 20", snr)
	}
	if !slices.Equal(voices.WithNoise(clean, 20, 1), noisy) || slices.Equal(voices.WithNoise(clean, 20, 2), noisy) {
		t.Error("the noise does not depend on its seed alone")
	}
}
