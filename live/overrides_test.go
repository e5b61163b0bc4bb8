package live_test

import (
	"encoding/json"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/turns"
)

// TestClientOverrides: a client may change what client_overrides lists, of the model its name only,
// and nothing that is locked or contains something locked.
func TestClientOverrides(t *testing.T) {
	t.Parallel()
	warm := 0.2
	own := agents.Model{Name: "ours", Temperature: &warm, MaxOutputTokens: 100}
	rows := []struct {
		name, client, locked string
		key, value           string
		// code is the refusal's; empty when the override applies.
		code string
	}{
		{"not listed", "language", "", "model", `"theirs"`, "override-not-allowed"},
		{"unknown", "language", "", "top_p", `1`, "override-not-allowed"},
		{"a model's name", "model", "", "model", `"theirs"`, ""},
		{"a model with bounds", "model", "", "model", `{"temperature":2,"max_output_tokens":999999}`, "type"},
		{"a model with another provider", "model", "temperature", "model", `{"provider":"anthropic","name":"theirs"}`, "type"},
		{"a model without a name", "model", "", "model", `""`, "type"},
		{"locked", "model", "model", "model", `"theirs"`, "override-not-allowed"},
		{"locked around it", "temperature", "model", "temperature", `2`, "override-not-allowed"},
		{"listed and locked around it", "tts", "voice", "tts", `{"voice":"v"}`, "override-not-allowed"},
		{"locked inside it", "voice", "tts", "voice", `{"tts":{"voice":"v"}}`, "override-not-allowed"},
		{"nothing locked inside it", "voice", "tts", "voice", `{"stt":{}}`, ""},
		{"a part of what is listed", "voice", "stt", "tts", `{"voice":"v"}`, ""},
		{"a part that is locked", "voice", "tts", "tts", `{"voice":"v"}`, "override-not-allowed"},
		{"no part of the model", "model", "", "temperature", `2`, "override-not-allowed"},
	}
	f := newFixture(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			config := agents.Config{Model: own, ClientOverrides: []string{row.client}}
			if row.locked != "" {
				config.LockedOverrides = []string{row.locked}
			}
			f.agent = f.newAgent(t, f.ref, config)
			s := f.join(t, f.Node, f.create(t))
			s.do(live.Configure{Overrides: map[string]json.RawMessage{row.key: json.RawMessage(row.value)}})
			configured, _ := until[live.Configured](s)
			code := ""
			if len(configured.Refused) > 0 {
				code = configured.Refused[0].Code
				if configured.Refused[0].Field != row.key || configured.Refused[0].Message == "" {
					t.Errorf("refused %+v", configured.Refused)
				}
			}
			if code != row.code {
				t.Errorf("refused %+v, want %q", configured.Refused, row.code)
			}
			model := configured.Session.Config.Model
			if *model.Temperature != warm || model.MaxOutputTokens != 100 || model.Provider != "" ||
				(model.Name == "theirs") != (row.key == "model" && row.code == "") {
				t.Errorf("the model is %+v", model)
			}
		})
	}
}

// TestClientLanguage: a client's language is stored as language_detection stores it, and an unknown
// one is refused.
func TestClientLanguage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{Language: "en", ClientOverrides: []string{"language"}})
	made := f.create(t)
	s := f.join(t, f.Node, made)
	for _, row := range []struct {
		asked, language string
		refused         bool
	}{
		{`"DE-ch"`, "de-CH", false},
		{`"klingon"`, "de-CH", true},
		{`"PT_br"`, "pt-BR", false},
	} {
		s.do(live.Configure{Overrides: map[string]json.RawMessage{"language": json.RawMessage(row.asked)}})
		configured, _ := until[live.Configured](s)
		if stored := f.get(t, made.Session.ID).Language; configured.Session.Language != row.language ||
			stored != row.language || (len(configured.Refused) > 0) != row.refused {
			t.Errorf("%s: %q in force, %q stored, refused %+v", row.asked, configured.Session.Language, stored, configured.Refused)
		}
	}
}

// TestLockedInstructions: the lock holds for the instructions of one answer too.
func TestLockedInstructions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{
		Instructions: "Ours.", ClientOverrides: []string{"instructions"},
		LockedOverrides: []string{"instructions"},
	})
	answers := &script{steps: []step{say("Yes.")}}
	f.model = answers
	s := f.join(t, f.Node, f.create(t))
	theirs := "Theirs."
	s.do(live.UserMessage{Text: "Hm?"})
	s.do(live.Respond{Instructions: &theirs})
	until[turns.ResponseDone](s)
	if system := answers.requests()[0].System; !strings.Contains(system, "Ours.") || strings.Contains(system, "Theirs.") {
		t.Errorf("instructions %q", system)
	}
}
