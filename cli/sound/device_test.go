package sound_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/platform/audio"
)

// only finds a script under the name of one program.
func only(t *testing.T, name, script string) sound.FindFunc {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return func(wanted string) (string, error) {
		if wanted != name {
			return "", exec.ErrNotFound
		}
		return path, nil
	}
}

// TestMicrophone: what a program records arrives whole, and what it says when it fails.
func TestMicrophone(t *testing.T) {
	t.Parallel()
	want := tone(sound.RateHz, 300)
	file := write(t, audio.Default.AppendEncode(nil, want))
	source, name, err := sound.Microphone(t.Context(), only(t, "parec", "cat "+file+"\necho no device >&2\nexit 1\n"))
	if err != nil || name != "parec" {
		t.Fatalf("%q: %v", name, err)
	}
	var got []int16
	for err == nil {
		var samples []int16
		samples, err = source.Read(0)
		got = append(got, samples...)
	}
	if !slices.Equal(got, want) || !strings.Contains(err.Error(), "parec does not record any more: exit status 1: no device") {
		t.Errorf("%d samples, want %d: %v", len(got), len(want), err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
}

// TestMicrophoneIsClosed: a program that records for ever ends.
func TestMicrophoneIsClosed(t *testing.T) {
	t.Parallel()
	source, _, err := sound.Microphone(t.Context(), only(t, "arecord", "exec cat /dev/zero\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
}

// TestLoudspeaker: a program plays everything before it is closed, after a moment of silence.
func TestLoudspeaker(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "played")
	sink, name, err := sound.Loudspeaker(t.Context(), only(t, "paplay", "exec cat >"+file+"\n"))
	if err != nil || name != "paplay" {
		t.Fatalf("%q: %v", name, err)
	}
	want := tone(sound.RateHz, 200)
	for piece := range slices.Chunk(want, 480) {
		for !sink.Write(piece) { // the program has not read what was written before
		}
	}
	if err := errors.Join(sink.Close(), sink.Err()); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const lead = sound.RateHz * 60 / 1000
	decoder := audio.Decoder{Format: audio.Default}
	if got := decoder.AppendDecode(nil, raw); !slices.Equal(got, slices.Concat(make([]int16, lead), want)) {
		t.Errorf("%d samples were played, want %d", len(got), lead+len(want))
	}
}

// TestLoudspeakerFails: the conversation goes on, and knows why nothing is heard.
func TestLoudspeakerFails(t *testing.T) {
	t.Parallel()
	sink, _, err := sound.Loudspeaker(t.Context(), only(t, "aplay", "echo no card >&2\nexit 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for sink.Err() == nil { // until the pipe is broken
		sink.Write(make([]int16, 4800))
	}
	if !strings.Contains(sink.Err().Error(), "aplay does not play any more") || !strings.Contains(sink.Err().Error(), "no card") {
		t.Error(sink.Err())
	}
	if !sink.Write(make([]int16, 480)) {
		t.Error("it takes nothing any more")
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoPrograms names what could be installed.
func TestNoPrograms(t *testing.T) {
	t.Parallel()
	none := func(string) (string, error) { return "", exec.ErrNotFound }
	_, _, err := sound.Microphone(context.Background(), none)
	if err == nil || !strings.Contains(err.Error(), "arecord, rec, ffmpeg, parec") {
		t.Error(err)
	}
	_, _, err = sound.Loudspeaker(context.Background(), none)
	if err == nil || !strings.Contains(err.Error(), "aplay, play, paplay, ffplay") {
		t.Error(err)
	}
}
