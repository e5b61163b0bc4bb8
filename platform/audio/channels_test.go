package audio_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/platform/audio"
)

// TestChannels checks both ways between two channels and interleaved samples.
func TestChannels(t *testing.T) {
	t.Parallel()
	left, right := []int16{1, 2, 3}, []int16{-5, -6}
	// The buffer has garbage behind its end, which must not become the silence of the shorter one.
	buffer := []int16{9, 7, 7, 7, 7, 7, 7, 7}[:1]
	both := audio.AppendInterleaved(buffer, left, right)
	if want := []int16{9, 1, -5, 2, -6, 3, 0}; !slices.Equal(both, want) {
		t.Fatalf("interleaved %v, want %v", both, want)
	}
	both = append(both[1:], 4) // half a frame more
	if got := audio.AppendChannel([]int16{9}, both, 2, 0); !slices.Equal(got, []int16{9, 1, 2, 3}) {
		t.Errorf("left %v", got)
	}
	if got := audio.AppendChannel(nil, both, 2, 1); !slices.Equal(got, []int16{-5, -6, 0}) {
		t.Errorf("right %v", got)
	}
	if got := audio.AppendMono([]int16{9}, both, 2); !slices.Equal(got, []int16{9, -2, -2, 1}) {
		t.Errorf("mono %v", got)
	}
	if got := audio.AppendMono(nil, []int16{32767, 32767, -32768, -32768}, 2); !slices.Equal(got, []int16{32767, -32768}) {
		t.Errorf("the loudest in both channels is %v", got)
	}
}
