package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/workspaces"
)

// The parts of the voice stack are objects of their provider's settings: what agents.proto names of them is checked here,
// where a session asks for it, and the rest is kept. Source: AgentVoice in agents.proto.

const (
	// builtInVoice speaks without a server.
	builtInVoice = "espeak-ng"
	// minSpeed and maxSpeed are OpenAI's for speech, maxPauseMS is far beyond any pause in a sentence.
	minSpeed, maxSpeed = 0.25, 4
	maxPauseMS         = 60_000
)

// providersOf are the providers that a session may be given.
func providersOf(kind workspaces.CredentialKind) []string {
	known := workspaces.Providers(kind)
	switch kind {
	case workspaces.CredentialModel:
		known = append(known, extractive.Name)
	case workspaces.CredentialTTS:
		known = append(known, builtInVoice)
	}
	return known
}

// checkProvider refuses a provider that does not exist. The agent's own, were, stays what it is.
func checkProvider(kind workspaces.CredentialKind, name, were string) error {
	known := providersOf(kind)
	if name == "" || name == were || slices.Contains(known, name) {
		return nil
	}
	return errors.New("there is no " + string(kind) + " provider of that name; use one of " + strings.Join(known, ", "))
}

// setPart writes an object; check looks at it and at the one before, which may be empty.
func setPart(check func(part, before json.RawMessage) error, field func(*agents.Config) *json.RawMessage) override {
	return func(config *agents.Config, value json.RawMessage) error {
		var object map[string]any
		if DecodeStrict(value, &object) != nil || bytes.Contains(value, []byte(`\u0000`)) {
			return errors.New("it must be an object")
		}
		if err := check(value, *field(config)); err != nil {
			return err
		}
		*field(config) = slices.Clone(value)
		return nil
	}
}

// speech is what is known of stt and tts.
type speech struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Language string   `json:"language"`
	Voice    string   `json:"voice"`
	Speed    *float64 `json:"speed"`
}

func checkSpeech(kind workspaces.CredentialKind) func(part, before json.RawMessage) error {
	return func(part, before json.RawMessage) error {
		var wanted, were speech
		if unknown := misspelt(part, reflect.TypeFor[speech]()); unknown != nil { // else it would be read as the field
			return unknown
		}
		if json.Unmarshal(part, &wanted) != nil || wanted.Speed != nil && (*wanted.Speed < minSpeed || *wanted.Speed > maxSpeed) {
			return errors.New("provider, model, language and voice are strings, and speed is a number from 0.25 to 4")
		}
		_ = json.Unmarshal(before, &were) // whatever it is, it is the agent's
		if wanted.Language != "" && !languageTag.MatchString(wanted.Language) {
			return errors.New(`language must be a BCP 47 tag such as "en" or "de-CH"`)
		}
		return checkProvider(kind, wanted.Provider, were.Provider)
	}
}

func checkVAD(part, _ json.RawMessage) error {
	var wanted struct {
		Threshold         float64 `json:"threshold"`
		PrefixPaddingMS   int     `json:"prefix_padding_ms"`
		SilenceDurationMS int     `json:"silence_duration_ms"`
	}
	if err := DecodeStrict(part, &wanted); err != nil || wanted.Threshold < 0 || wanted.Threshold > 1 ||
		wanted.PrefixPaddingMS < 0 || wanted.PrefixPaddingMS > maxPauseMS || wanted.SilenceDurationMS < 0 || wanted.SilenceDurationMS > maxPauseMS {
		return wrong(err, "it is an object of threshold (0 to 1), prefix_padding_ms and silence_duration_ms (whole numbers to 60,000)")
	}
	return nil
}

func checkTurnDetection(part, _ json.RawMessage) error {
	var wanted struct {
		Type              string `json:"type"`
		InterruptResponse bool   `json:"interrupt_response"`
		CreateResponse    bool   `json:"create_response"`
	}
	if err := DecodeStrict(part, &wanted); err != nil || !slices.Contains([]string{"", "server_vad", "semantic_vad"}, wanted.Type) {
		return wrong(err, "it is an object of type (server_vad or semantic_vad), interrupt_response and create_response (true or false)")
	}
	return nil
}
