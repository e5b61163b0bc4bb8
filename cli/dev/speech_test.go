package dev

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/provider/model/discover"
)

// TestSpeechFound: a server on this machine transcribes when none is configured.
func TestSpeechFound(t *testing.T) {
	t.Parallel()
	here := discover.Found{
		Product: "Speaches", BaseURL: "http://127.0.0.1:8000/v1", Hearing: []string{"whisper-small"}, Speaking: []string{"ours/Kokoro-82M"},
	}
	look := func(context.Context, *http.Client) ([]discover.Found, error) { return []discover.Found{here}, nil }
	ours := app.Speech{Provider: app.Provider{BaseURL: "https://ours.example/v1", Name: "ours"}}
	of := app.Speech{Provider: app.Provider{BaseURL: here.BaseURL, Name: "whisper-small"}}
	named, big := app.Speech{Provider: app.Provider{Name: "whisper-big"}}, of
	big.Name = named.Name
	openai := app.Speech{Provider: app.Provider{APIKey: "k"}}
	for name, row := range map[string]struct {
		config app.Config
		speech string
		want   app.Speech
		hears  string
		speaks bool
	}{
		"Nothing":    {app.Config{}, auto, of, "HEARS (Speaches is running on this machine; --speech none refuses it)", true},
		"OnlyAModel": {app.Config{STT: named}, auto, big, "Speaches", true},
		"Configured": {app.Config{STT: ours}, auto, ours, "HEARS", true},
		"Key":        {app.Config{STT: openai}, auto, openai, "HEARS", true},
		"Speaks":     {app.Config{TTS: ours}, auto, of, "HEARS", false},
		"None":       {app.Config{STT: ours, TTS: ours}, none, app.Speech{}, "change it", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &dev{config: row.config, options: options{model: auto, embedding: none, speech: row.speech}}
			if err := d.chooseModels(t.Context(), look); err != nil {
				t.Fatal(err)
			}
			if d.config.STT != row.want || row.speech == none && d.config.TTS.IsSet() {
				t.Errorf("%+v hears and %+v speaks", d.config.STT, d.config.TTS)
			}
			hears, speaks := d.speechWords(&app.App{Hears: "HEARS", Speaks: "SPEAKS"})
			if words := strings.Join(hears, "\n"); !strings.Contains(words, row.hears) || !strings.HasPrefix(words, "HEARS") {
				t.Errorf("it says %q", words)
			}
			words := strings.Join(speaks, "\n")
			tells := strings.Contains(words, "PARLANCE_TTS_BASE_URL="+here.BaseURL+" PARLANCE_TTS_NAME=ours/Kokoro-82M PARLANCE_TTS_VOICE=af_heart")
			if tells != row.speaks || !strings.HasPrefix(words, "SPEAKS") {
				t.Errorf("it says %q", words)
			}
		})
	}
}
