package voicecorpus_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/test/voicecorpus"
	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

// TestBounds holds what the network with a streaming transcriber hears of a third of the corpus
// against the bounds. `go run ./test/eval/hearing` prints the table of all of it.
func TestBounds(t *testing.T) {
	t.Parallel()
	recordings, err := voicecorpus.Corpus(1, 3)
	if err != nil {
		t.Fatal(err)
	}
	settings := hearing.Defaults()
	settings.Streaming, settings.Punctuated = true, true
	var score, gate voicecorpus.Score
	for _, r := range recordings {
		score.Add(r, voicecorpus.Run(r, settings, vad.New()), settings.MinSpeechMS)
		gate.Add(r, voicecorpus.Run(r, settings, new(vad.Gate)), settings.MinSpeechMS)
	}
	for _, broken := range score.Violations() {
		t.Error(broken)
	}
	if t.Failed() {
		t.Log(score.Wrong)
	}
	if score.MissedInterrupts.Count > 0 {
		t.Errorf("%d interruptions were missed", score.MissedInterrupts.Count)
	}
	if score.Missed.Of < 50 || score.CutOffs.Of < 20 || score.AcknowledgedInterrupts.Of < 9 || len(score.ToldMS) < 8 {
		t.Errorf("the corpus tries too little: %+v", score)
	}
	// What the network is for.
	if gate.FalseStarts.Count <= score.FalseStarts.Count {
		t.Errorf("%d false starts with the gate alone, %d with the network", gate.FalseStarts.Count, score.FalseStarts.Count)
	}
}

// TestSameSeed checks that a seed gives the same recordings, and another others.
func TestSameSeed(t *testing.T) {
	t.Parallel()
	first, second, other := corpus(t, 7), corpus(t, 7), corpus(t, 8)
	for i, r := range first {
		if !slices.Equal(r.Samples, second[i].Samples) || !slices.Equal(r.Echo, second[i].Echo) {
			t.Errorf("%s is another the second time", r.Name)
		}
		if slices.Equal(r.Samples, other[i].Samples) {
			t.Errorf("%s is the same with another seed", r.Name)
		}
	}
}

func corpus(t *testing.T, seed uint64) []*voicecorpus.Recording {
	t.Helper()
	recordings, err := voicecorpus.Corpus(seed, 100)
	if err != nil {
		t.Fatal(err)
	}
	return recordings
}
