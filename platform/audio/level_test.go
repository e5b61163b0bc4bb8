package audio_test

import (
	"math"
	"slices"
	"testing"

	"parlance.dev/parlance/platform/audio"
)

// TestLevel checks the two ends of the scale and a sine in between.
func TestLevel(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		window []int16
		want   float64
	}{
		"nothing":             {nil, audio.MinLevel},
		"silence":             {make([]int16, 320), audio.MinLevel},
		"one bit":             {[]int16{1, -1, 1, -1}, -90.31},
		"one bit in a second": {append(make([]int16, 15999), 1), audio.MinLevel},
		"the loudest":         {slices.Repeat([]int16{-32768}, 320), 0},
		"the loudest sine":    {tone(1000, 1, 16000, 320), -3.01},
		"half as loud":        {tone(1000, 0.5, 16000, 320), -9.03},
	} {
		if got := audio.Level(row.window); math.IsNaN(got) || math.Abs(got-row.want) > 0.01 {
			t.Errorf("%s: %.3f dBFS, want %.2f", name, got, row.want)
		}
	}
}
