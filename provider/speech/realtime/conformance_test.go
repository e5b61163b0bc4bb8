package realtime_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/realtime"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/test/fake/speechopenai"
)

func transcriber(t *testing.T, cfg realtime.Config) *realtime.Transcriber {
	t.Helper()
	cfg.Client = &http.Client{}
	tr, err := realtime.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestConformance(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, s speechtest.HearingSetup) (speech.StreamTranscriber, *speechtest.HearingScript) {
		fake := speechopenai.New(t, speechtest.Key)
		fake.Hearing.Add(s.Replies...)
		return transcriber(t, realtime.Config{
			BaseURL: cmp.Or(s.BaseURL, fake.BaseURL), APIKey: s.APIKey, Timeouts: s.Timeouts,
		}), fake.Hearing
	}
	speechtest.RunTranscriber(t, speechtest.HearingTraits{Streams: true, AppendOnly: true, NoWords: true, WireRate: 24000}, start)
}

// TestTooShort: OpenAI refuses to transcribe less than 100 ms, in which nobody says a word.
func TestTooShort(t *testing.T) {
	t.Parallel()
	fake := speechopenai.New(t, speechtest.Key)
	fake.Hearing.Add(speechtest.Heard{Text: "something"})
	tr := transcriber(t, realtime.Config{BaseURL: fake.BaseURL, APIKey: speechtest.Key})
	got, err := speech.Transcribe(t.Context(), tr, speech.Utterance{Samples: speechtest.Tone(1000)})
	if err != nil || got.Text != "" {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

// TestHints: keywords for models that take them, else a prompt.
func TestHints(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{"gpt-live-transcribe": "Ada|Babbage|", "whisper-1": "Ada, Babbage."} {
		fake := speechopenai.New(t, speechtest.Key)
		tr := transcriber(t, realtime.Config{BaseURL: fake.BaseURL, APIKey: speechtest.Key, Model: model})
		_, err := speech.Transcribe(t.Context(), tr, speech.Utterance{
			Samples: speechtest.Tone(4000), Options: speech.Options{Hints: []string{"Ada", "Babbage", strings.Repeat("x", 100)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if asked := fake.Hearing.Requests()[0]; strings.Join(asked.Hints, "|") != want || asked.Model != model {
			t.Errorf("model %q, hints %q", asked.Model, asked.Hints)
		}
	}
}
