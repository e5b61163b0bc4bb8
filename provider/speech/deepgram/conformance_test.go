package deepgram_test

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/deepgram"
	"parlance.dev/parlance/provider/speech/speechtest"
	fake "parlance.dev/parlance/test/fake/deepgram"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, s speechtest.HearingSetup) (speech.StreamTranscriber, *speechtest.HearingScript) {
		server := fake.New(t, speechtest.Key, s.Replies...)
		return transcriber(t, deepgram.Config{
			BaseURL: cmp.Or(s.BaseURL, server.BaseURL), APIKey: s.APIKey, Timeouts: s.Timeouts,
		}), server.HearingScript
	}
	speechtest.RunTranscriber(t, speechtest.HearingTraits{Streams: true}, start)
}

func transcriber(t *testing.T, cfg deepgram.Config) *deepgram.Transcriber {
	t.Helper()
	cfg.Client = &http.Client{}
	tr, err := deepgram.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestKeepAlive: a stream that was opened ahead is kept alive until somebody speaks.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	server := fake.New(t, speechtest.Key, speechtest.Heard{Text: "Hello."})
	tr := transcriber(t, deepgram.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key, KeepAliveEvery: time.Millisecond})
	stream, err := tr.Open(t.Context(), speech.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for range 3 {
		<-server.KeptAlive
	}
	if err := stream.Write(speechtest.Tone(1000)); err != nil {
		t.Fatal(err)
	}
	if got, err := stream.Finish(t.Context()); err != nil || got.Text != "Hello." {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

// TestQuery: what is asked for, by model and language.
func TestQuery(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for _, row := range []struct {
		name   string
		config deepgram.Config
		given  speech.Options
		want   map[string][]string
	}{
		{
			"the default detects the language",
			deepgram.Config{},
			speech.Options{Hints: []string{"A", long, "B"}},
			map[string][]string{"model": {"nova-3"}, "language": {"multi"}, "keyterm": {"A", "B"}, "endpointing": {"300"}},
		},
		{
			"older models boost keywords",
			deepgram.Config{Model: "nova-2", Endpointing: 50 * time.Millisecond},
			speech.Options{Language: "en-GB", Hints: []string{"A"}},
			map[string][]string{"model": {"nova-2"}, "language": {"en-GB"}, "keywords": {"A"}, "endpointing": {"50"}},
		},
		{
			"the operator's own parameters",
			deepgram.Config{Query: url.Values{"mip_opt_out": {"true"}, "punctuate": {"false"}}},
			speech.Options{Language: "fr"},
			map[string][]string{"model": {"nova-3"}, "language": {"fr"}, "mip_opt_out": {"true"}, "punctuate": {"false"}, "endpointing": {"300"}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			server := fake.New(t, speechtest.Key)
			row.config.BaseURL, row.config.APIKey = server.BaseURL, speechtest.Key
			if _, err := speech.Transcribe(t.Context(), transcriber(t, row.config), speech.Utterance{
				Samples: speechtest.Tone(1000), Options: row.given,
			}); err != nil {
				t.Fatal(err)
			}
			got := server.Requests()[0].Values
			for _, name := range []string{"encoding", "sample_rate", "channels", "interim_results"} {
				if len(got[name]) != 1 {
					t.Errorf("%s is %q", name, got[name])
				}
				delete(got, name)
			}
			if got["punctuate"][0] == "true" {
				delete(got, "punctuate")
			}
			if diff := gocmp.Diff(got, row.want); diff != "" {
				t.Error(diff)
			}
		})
	}
}
