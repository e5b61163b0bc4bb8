package audio_test

import (
	"math"
	"slices"
	"testing"

	"parlance.dev/parlance/platform/audio"
)

// goertzel is the energy of a frequency in samples.
func goertzel(samples []int16, frequency float64, rateHz int) float64 {
	factor := 2 * math.Cos(2*math.Pi*frequency/float64(rateHz))
	var last, before float64
	for _, sample := range samples {
		last, before = float64(sample)+factor*last-before, last
	}
	return last*last + before*before - factor*last*before
}

// TestKeyTones: each key is found again by the two frequencies that are the loudest.
func TestKeyTones(t *testing.T) {
	t.Parallel()
	frequencies := []float64{697, 770, 852, 941, 1209, 1336, 1477, 1633}
	for _, rate := range []int{8000, 24000} {
		for _, key := range audio.Keys {
			samples := audio.AppendKeyTones([]int16{7}, string(key), rate)
			if samples[0] != 7 || len(samples) != 1+rate/5 || audio.Level(samples[1+rate/10:]) != audio.MinLevel {
				t.Fatalf("%c at %d Hz has %d samples", key, rate, len(samples))
			}
			tone := samples[1 : 1+rate/10]
			loudest := slices.Clone(frequencies)
			slices.SortFunc(loudest, func(a, b float64) int {
				return int(math.Copysign(1, goertzel(tone, b, rate)-goertzel(tone, a, rate)))
			})
			low, high, _ := audio.KeyTones(key)
			got := loudest[:2]
			slices.Sort(got)
			if got[0] != low || got[1] != high {
				t.Errorf("%c at %d Hz sounds like %v", key, rate, got)
			}
			if ratio := goertzel(tone, got[0], rate) / goertzel(tone, loudest[2], rate); ratio < 20 {
				t.Errorf("%c at %d Hz is only %.1f times as loud as others", key, rate, ratio)
			}
			if level := audio.Level(tone); level < -12 || level > -6 {
				t.Errorf("%c has %.1f dBFS", key, level)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"12#": true, "1w*": true, "A": true, "": false, "1 2": false, "E": false, "a": false} {
		if got := audio.AreKeys(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
	if got := len(audio.AppendKeyTones(nil, "1wx2", 8000)); got != 2*1600+4000 {
		t.Errorf("two keys and a pause have %d samples", got)
	}
	if low, high, ok := audio.KeyTones('5'); low != 770 || high != 1336 || !ok {
		t.Errorf("5 has %v and %v", low, high)
	}
}
