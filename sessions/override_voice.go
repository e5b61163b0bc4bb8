package sessions

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/workspaces"
)

// languageTag is the shape of a BCP 47 tag.
var languageTag = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// voiceOverrides are the keys of voice_stack_override. Source: decisions, Sessions.
var voiceOverrides = map[string]override{
	"stt":                 setPart(checkSpeech(workspaces.CredentialSTT), func(c *agents.Config) *json.RawMessage { return &c.Voice.STT }),
	"tts":                 setPart(checkSpeech(workspaces.CredentialTTS), func(c *agents.Config) *json.RawMessage { return &c.Voice.TTS }),
	"vad":                 setPart(checkVAD, func(c *agents.Config) *json.RawMessage { return &c.Voice.VAD }),
	"turn_detection":      setPart(checkTurnDetection, func(c *agents.Config) *json.RawMessage { return &c.Voice.TurnDetection }),
	"input_audio_format":  setFormat(func(c *agents.Config) *string { return &c.Voice.InputAudioFormat }),
	"output_audio_format": setFormat(func(c *agents.Config) *string { return &c.Voice.OutputAudioFormat }),
}

// nestedKeys are the keys within another that can be locked by themselves.
var nestedKeys = map[string][]string{
	"model": {"temperature"},
	"voice": {"stt", "tts", "vad", "turn_detection", "input_audio_format", "output_audio_format"},
}

// speech holds the known fields of stt and tts.
type speech struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Language string   `json:"language"`
	Voice    string   `json:"voice"`
	Speed    *float64 `json:"speed"`
}

// checkSpeech returns the check of stt or tts.
func checkSpeech(kind workspaces.CredentialKind) func(part, own json.RawMessage) error {
	return func(part, own json.RawMessage) error {
		var chosen, agent speech
		if unknown := jsonvalue.FindMisspelled(part, reflect.TypeFor[speech]()); unknown != nil { // the decoder ignores the case of names
			return unknown
		}
		if json.Unmarshal(part, &chosen) != nil || chosen.Speed != nil && (*chosen.Speed < minSpeed || *chosen.Speed > maxSpeed) {
			return errors.New("provider, model, language and voice are strings, and speed is a number from 0.25 to 4")
		}
		_ = json.Unmarshal(own, &agent) // the agent's value was checked when it was saved
		if chosen.Language != "" && !languageTag.MatchString(chosen.Language) {
			return errors.New(`language must be a BCP 47 tag such as "en" or "de-CH"`)
		}
		return checkProvider(kind, chosen.Provider, agent.Provider)
	}
}

// checkVAD checks the settings of voice activity detection.
func checkVAD(part, _ json.RawMessage) error {
	var chosen struct {
		Threshold         float64 `json:"threshold"`
		PrefixPaddingMS   int     `json:"prefix_padding_ms"`
		SilenceDurationMS int     `json:"silence_duration_ms"`
	}
	if err := jsonvalue.DecodeStrict(part, &chosen); err != nil || chosen.Threshold < 0 || chosen.Threshold > 1 ||
		chosen.PrefixPaddingMS < 0 || chosen.PrefixPaddingMS > maxPauseMS ||
		chosen.SilenceDurationMS < 0 || chosen.SilenceDurationMS > maxPauseMS {
		return refusal(err, "it is an object of threshold (0 to 1), prefix_padding_ms and silence_duration_ms (whole numbers to 60,000)")
	}
	return nil
}

// checkTurnDetection checks the settings of turn detection.
func checkTurnDetection(part, _ json.RawMessage) error {
	var chosen struct {
		Type              string `json:"type"`
		InterruptResponse bool   `json:"interrupt_response"`
		CreateResponse    bool   `json:"create_response"`
	}
	if err := jsonvalue.DecodeStrict(part, &chosen); err != nil || !slices.Contains([]string{"", "server_vad", "semantic_vad"}, chosen.Type) {
		return refusal(err, "it is an object of type (server_vad or semantic_vad), interrupt_response and create_response (true or false)")
	}
	return nil
}

// setVoice applies an object of the keys of voice_stack_override.
func setVoice(config *agents.Config, value json.RawMessage) error {
	var parts map[string]json.RawMessage
	if jsonvalue.DecodeStrict(value, &parts) != nil {
		return errors.New("voice must be an object")
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		set, ok := voiceOverrides[key]
		if !ok {
			return &jsonvalue.UnknownMember{Path: key, Known: slices.Sorted(maps.Keys(voiceOverrides))}
		}
		if err := set(config, parts[key]); err != nil {
			if unknown, ok := errors.AsType[*jsonvalue.UnknownMember](err); ok {
				return unknown.Within(key)
			}
			return errors.New(key + ": " + err.Error())
		}
	}
	return nil
}
