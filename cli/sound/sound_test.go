package sound_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/platform/audio"
)

// tone is a tone of 440 Hz.
func tone(rateHz, ms int) []int16 {
	samples := make([]int16, rateHz*ms/1000)
	for i := range samples {
		samples[i] = int16(10_000 * math.Sin(2*math.Pi*440*float64(i)/float64(rateHz)))
	}
	return samples
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "voice.wav")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenWAV: files of any rate and number of channels have their length and level at 24 kHz.
func TestOpenWAV(t *testing.T) {
	t.Parallel()
	for _, rateHz := range []int{8000, 16_000, 22_050, 24_000, 44_100, 48_000} {
		for _, channels := range []int{1, 2} {
			samples := tone(rateHz, 500)
			if channels == 2 {
				samples = audio.AppendInterleaved(nil, samples, samples)
			}
			format := audio.Format{Encoding: audio.PCM16, RateHz: rateHz}
			source, err := sound.OpenWAV(write(t, audio.AppendWAV(nil, format, channels, samples)))
			if err != nil {
				t.Fatal(err)
			}
			got := readAll(t, source)
			if want := tone(sound.RateHz, 500); len(got) != len(want) || math.Abs(audio.Level(got)-audio.Level(want)) > 0.2 {
				t.Errorf("%d Hz, %d channels: %d samples at %.1f dB", rateHz, channels, len(got), audio.Level(got))
			}
		}
	}
}

// readAll reads a file in pieces of 20 ms.
func readAll(t *testing.T, source sound.Source) []int16 {
	t.Helper()
	var all []int16
	for {
		samples, err := source.Read(480)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil || len(samples) == 0 || len(samples) > 480 {
			t.Fatalf("%d samples, %v", len(samples), err)
		}
		all = append(all, samples...)
	}
}

// TestWrongFiles says what is wrong, and what to do.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	empty := audio.AppendWAV(nil, audio.Default, 1, nil)
	other := audio.AppendWAV(nil, audio.Format{Encoding: audio.PCM16, RateHz: 16_000}, 1, tone(16_000, 100))
	other[24], other[25] = 0x11, 0x2b // 11,025 Hz
	for name, row := range map[string]struct {
		path, says string
	}{
		"Missing": {filepath.Join(t.TempDir(), "none.wav"), "no such file"},
		"Empty":   {write(t, empty), "has no sound in it"},
		"NoWAV":   {write(t, []byte("ID3 this is music")), "does not begin with RIFF"},
		"Broken":  {write(t, empty[:30]), "ends before the samples"},
		"Rate":    {write(t, other), "-ar 24000 -ac 1"},
	} {
		if _, err := sound.OpenWAV(row.path); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRaw: bare samples come at the pace that is asked for, and end.
func TestRaw(t *testing.T) {
	t.Parallel()
	want := tone(sound.RateHz, 500)
	source := sound.Raw(bytes.NewReader(audio.Default.AppendEncode(nil, want)))
	var got []int16
	for {
		samples, err := source.Read(480)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || len(samples) > 480 {
			t.Fatalf("%d samples, %v", len(samples), err)
		}
		got = append(got, samples...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d samples, want %d", len(got), len(want))
	}
}

// TestPlayer: items are played in their order, with silence between them, and counted.
func TestPlayer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.wav")
	sink, err := sound.CreateWAV(path)
	if err != nil {
		t.Fatal(err)
	}
	var begun []string
	player := sound.NewPlayer(sink, func(item string) { begun = append(begun, item) })
	player.Advance(480)
	if item, _ := player.Playing(); item != "" {
		t.Errorf("plays %q", item)
	}
	first, second := tone(sound.RateHz, 30), tone(sound.RateHz, 500)
	player.Queue("first", first)
	player.Queue("second", second)
	player.Advance(480)
	if item, heard := player.Playing(); item != "first" || heard != 20*time.Millisecond {
		t.Errorf("plays %q, %s heard", item, heard)
	}
	player.Advance(480) // 10 ms of each
	if item, heard := player.Playing(); item != "second" || heard != 10*time.Millisecond || player.Idle() {
		t.Errorf("plays %q, %s heard", item, heard)
	}
	player.Cut()
	player.Queue("second", second)
	if !player.Idle() {
		t.Error("what comes of an item that was cut is queued")
	}
	player.Queue("third", first)
	player.Advance(480)
	player.Advance(480) // 10 ms of it, and 10 ms of nothing
	if item, heard := player.Playing(); item != "third" || heard != 30*time.Millisecond {
		t.Errorf("plays %q, %s heard", item, heard)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	source, err := sound.OpenWAV(path)
	if err != nil {
		t.Fatal(err)
	}
	if file, err := os.ReadFile(path); err != nil || int(binary.LittleEndian.Uint32(file[40:])) != len(file)-44 {
		t.Errorf("the header of the file has another length: %v", err)
	}
	want := slices.Concat(make([]int16, 480), first, second[:240], first, make([]int16, 240))
	if got := readAll(t, source); !slices.Equal(got, want) {
		t.Errorf("%d samples, want %d", len(got), len(want))
	}
	if strings.Join(begun, " ") != "first second third" {
		t.Errorf("begun: %v", begun)
	}
}
