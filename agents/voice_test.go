package agents_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/jsonvalue"
)

// TestVoiceParts: what is known is read, and members of another type than theirs are left out.
func TestVoiceParts(t *testing.T) {
	t.Parallel()
	half, fast := 0.5, 1.5
	v := agents.Voice{
		STT: json.RawMessage(`{"provider":"deepgram","model":7,"language":"de-CH","keywords":["Ada","Babbage"],"smart_format":true}`),
		TTS: json.RawMessage(`{"provider":"elevenlabs","model":"eleven_v3","voice":"v1","language":"de","speed":1.5,"stability":0.5,` +
			`"similarity_boost":"much","instructions":"calm"}`),
	}
	if diff := cmp.Diff(v.Transcriber(), agents.Transcriber{
		Provider: "deepgram", Language: "de-CH", Keywords: []string{"Ada", "Babbage"},
	}); diff != "" {
		t.Errorf("stt (-got +want): %s", diff)
	}
	if diff := cmp.Diff(v.Synthesizer(), agents.Synthesizer{
		Provider: "elevenlabs", Model: "eleven_v3", Voice: "v1", Language: "de", Speed: &fast, Stability: &half, Instructions: "calm",
	}); diff != "" {
		t.Errorf("tts (-got +want): %s", diff)
	}
	if diff := cmp.Diff(agents.Voice{}.Synthesizer(), agents.Synthesizer{}); diff != "" {
		t.Errorf("no tts (-got +want): %s", diff)
	}
}

func TestParseVoiceParts(t *testing.T) {
	t.Parallel()
	keywords := func(n int) string { return `["` + strings.Repeat(`x","`, n-1) + `x"]` }
	for part, ok := range map[string]bool{
		`{}`:                                                true,
		`{"keywords":["Ada"],"punctuate":1}`:                true,
		`{"keywords":` + keywords(100) + `}`:                true,
		`{"keywords":` + keywords(101) + `}`:                false,
		`{"keywords":[""]}`:                                 false,
		`{"keywords":["` + strings.Repeat("x", 101) + `"]}`: false,
		`{"model":"` + strings.Repeat("x", 201) + `"}`:      false,
		`{"provider":1}`:                                    false,
	} {
		if _, err := agents.ParseTranscriber(json.RawMessage(part)); (err == nil) != ok {
			t.Errorf("stt %s: %v", part, err)
		}
	}
	for part, ok := range map[string]bool{
		`{"speed":0.25,"stability":0,"similarity_boost":1,"instructions":"calm","style":0.2}`: true,
		`{"speed":4.1}`:             false,
		`{"speed":"fast"}`:          false,
		`{"stability":1.1}`:         false,
		`{"similarity_boost":-0.1}`: false,
		`{"instructions":"` + strings.Repeat("ü", 2000) + `"}`: true,
		`{"instructions":"` + strings.Repeat("ü", 2001) + `"}`: false,
		`{"voice":"` + strings.Repeat("x", 201) + `"}`:         false,
	} {
		if _, err := agents.ParseSynthesizer(json.RawMessage(part)); (err == nil) != ok {
			t.Errorf("tts %s: %v", part, err)
		}
	}
	_, err := agents.ParseSynthesizer(json.RawMessage(`{"Stability":0.1}`))
	if unknown, ok := errors.AsType[*jsonvalue.UnknownMember](err); !ok || unknown.Path != "Stability" {
		t.Errorf("another case: %v", err)
	}
}
