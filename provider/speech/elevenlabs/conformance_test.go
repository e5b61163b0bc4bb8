package elevenlabs_test

import (
	"cmp"
	"net/http"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/elevenlabs"
	"parlance.dev/parlance/provider/speech/speechtest"
	fake "parlance.dev/parlance/test/fake/elevenlabs"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, s speechtest.SpeakingSetup) (speech.Synthesizer, *speechtest.SpeakingScript) {
		server := fake.New(t, speechtest.Key, s.Replies...)
		return synthesizer(t, elevenlabs.Config{
			BaseURL: cmp.Or(s.BaseURL, server.BaseURL), APIKey: s.APIKey, Rate: 16000, Timeouts: s.Timeouts,
		}), server.SpeakingScript
	}
	speechtest.RunSynthesizer(t, speechtest.SpeakingTraits{Words: true, Language: true, Rate: 16000}, start)
}

func synthesizer(t *testing.T, cfg elevenlabs.Config) *elevenlabs.Synthesizer {
	t.Helper()
	cfg.Client = &http.Client{}
	y, err := elevenlabs.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(y.Close)
	return y
}

// TestRequest: the parameters of the URL, and a voice that is no path.
func TestRequest(t *testing.T) {
	t.Parallel()
	server := fake.New(t, speechtest.Key)
	server.Else = func() speechtest.Spoken { return speechtest.Spoken{Pieces: [][]byte{make([]byte, 8)}} }
	y := synthesizer(t, elevenlabs.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key})
	for _, asked := range []speech.Speech{{Text: "One.", Language: "pt-BR", Speed: 9}, {Text: " Two. ", Voice: "a/../b?c"}} {
		if err := y.Speak(t.Context(), asked, func(speech.Piece) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	first, second := server.Requests()[0], server.Requests()[1]
	if first.Voice != elevenlabs.DefaultVoice || first.Speed != 1.2 || second.Voice != "a/../b?c" || second.Text != "Two." {
		t.Errorf("voices %q and %q, speed %v, text %q", first.Voice, second.Voice, first.Speed, second.Text)
	}
	want := map[string][]string{
		"model_id": {"eleven_flash_v2_5"}, "output_format": {"pcm_24000"}, "auto_mode": {"true"}, "sync_alignment": {"true"},
		"inactivity_timeout": {"90"},
		"language_code":      {"pt"},
	}
	if diff := gocmp.Diff(first.Values, want); diff != "" {
		t.Error(diff)
	}
}

// TestNoAudio: a final message without any audio is an error, so that a chain asks somebody else.
func TestNoAudio(t *testing.T) {
	t.Parallel()
	server := fake.New(t, speechtest.Key, speechtest.Spoken{})
	y := synthesizer(t, elevenlabs.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key})
	err := y.Speak(t.Context(), speech.Speech{Text: "Hello."}, func(speech.Piece) error { return nil })
	if !fault.IsReason(err, fault.UpstreamFailed) {
		t.Errorf("error %v", err)
	}
}

// TestReportedErrors: an error that may pass is unavailable, any other is upstream-failed.
func TestReportedErrors(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct {
		reason fault.Reason
		words  string
	}{
		"quota_exceeded": {fault.UpstreamFailed, "elevenlabs reported an error."},
		"system_busy":    {fault.ServiceUnavailable, "elevenlabs is overloaded or limiting our rate."},
	} {
		server := fake.New(t, speechtest.Key, speechtest.Spoken{End: speechtest.EndError, Code: code})
		y := synthesizer(t, elevenlabs.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key})
		err := y.Speak(t.Context(), speech.Speech{Text: "Hello."}, func(speech.Piece) error { return nil })
		if f := fault.From(err); f.Reason != want.reason || f.Message != want.words {
			t.Errorf("%s: %v", code, err)
		}
	}
}
